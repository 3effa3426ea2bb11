"""Every archive of tests/programs: what must not change first, then what folding makes of the rest.

Every trap that upstream's code holds, and every breakage of the attempt by hand, has a case.
Programs with a function ``f(a, b, device, thing)`` are also run, before and after folding, in a
world where the facts hold.
"""

import re
import tomllib
from pathlib import Path

import pytest

from tests.fold.defects import faults, shrink
from tests.fold.programs import PROGRAMS, read_program
from tests.fold.world import difference, trace

ARCHIVES = sorted(PROGRAMS.glob("*.txtar"), key=lambda p: (not p.name.startswith("noop_"), p.name))


def test_there_are_programs() -> None:
    assert len(ARCHIVES) > 100


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda p: p.stem)
def test_program(archive: Path) -> None:
    program = read_program(archive)
    assert program.files, "an archive holds files"
    shrunk = shrink(program.files, rounds=program.rounds)
    assert shrunk.rescued == tuple(sorted(program.rescued))
    for path, text in program.files.items():
        assert program.wanted.get(path) != text, f"{path} is wanted as it is: leave the section out"
        assert path in shrunk.modules or "/npu/" in path or not path.endswith(".py"), (
            f"{path} was not folded"
        )
        assert shrunk.after[path] == program.wanted.get(path, text), path
    assert faults(shrunk) == []
    if "\ndef f(a, b, device, thing):" in archive.read_text("utf-8"):
        before = trace(shrunk.before)
        assert all(outcome.error is None for outcome in before), before
        assert difference(before, trace(shrunk.after)) is None
        again = shrink(shrunk.after, rounds=program.rounds)
        assert [
            decision for module in again.modules.values() for decision in module.decisions
        ] == []


ROOT = Path(__file__).resolve().parents[2]

TRAPS: dict[str, list[str]] = tomllib.loads(
    Path(__file__).with_name("traps.toml").read_text("utf-8")
)
"""What upstream does to whoever changes it, to the programs (by name) and tests (by path) that show
it handled.
"""


@pytest.mark.parametrize("trap", TRAPS)
def test_every_trap_has_a_case(trap: str) -> None:
    for case in TRAPS[trap]:
        path, _, name = case.partition("::")
        if name:
            assert re.search(rf"^def {name}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE), (
                case
            )
        else:
            assert (PROGRAMS / f"{case}.txtar").is_file(), case
