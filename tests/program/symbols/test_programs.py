"""Archives of tests/programs/symbols: lines that end with ``# gone`` go, and every other line
stays.

One that ends with ``# loads`` imports names, and in the tree that is left their module alone.

Each archive has a `sglang/launch_server.py`, which runs the same in the tree that is left, and a
search to be saved.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from shrinker.pipeline import Run, analyse
from shrinker.program.decided import Analysis
from shrinker.program.symbols.program import Program
from shrinker.program.symbols.why import Symbols
from tests.fold.programs import make_tree, read_program, rewrite
from tests.program.symbols.support import ARCHIVES, small_rules
from tests.small import Silent, python, write

_LOADS = re.compile(r"from (?:sglang)?\.?(\S+) import .*(  # loads)")
_GONE = re.compile(r"def (\w+)\(.*# gone$", re.MULTILINE)


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]


def _wanted(text: str) -> list[str]:
    return [
        _LOADS.sub(r"import sglang.\1\2", line)
        for line in _lines(text)
        if not line.endswith("# gone")
    ]


def _names(texts: Iterable[str]) -> str:
    """A module that nothing reaches and that calls every function that goes: none is there for code
    outside alone.
    """
    return "\n".join(f"x.{name}()" for text in texts for name in _GONE.findall(text))


def _run(folder: Path) -> str:
    done = python(folder / "python", "-c", "import sglang.launch_server as m; m.main()")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_are_programs() -> None:
    assert len(ARCHIVES) > 10


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda p: p.stem)
def test_program(archive: Path, tmp_path: Path) -> None:
    files = {
        path: text for path, text in read_program(archive).files.items() if path.endswith(".py")
    }
    upstream, left = tmp_path / "upstream", tmp_path / "left"
    nobody = "python/sglang/nobody.py"
    tree = make_tree(
        upstream, {"python/sglang/srt/utils.py": "", nobody: _names(files.values()), **files}
    )
    decided = analyse(Run(tree, small_rules(tmp_path), 1, Silent()))
    for path, text in files.items():
        wanted = _wanted(text)
        emitted = rewrite(tree, decided.folded[path]) if path in decided.folded else ""
        # An emptied block receives a `pass` of its own.
        found = [line for line in _lines(emitted) if line.strip() != "pass" or line in wanted]
        assert found == wanted, path
        if path in decided.folded:
            write(left, {path: emitted})
    for package in ("python/sglang/srt", "python/sglang"):
        (left / package).mkdir(parents=True, exist_ok=True)
        (left / package / "__init__.py").touch()
    ran = _run(upstream)
    assert ran, "the program prints nothing: it cannot tell a difference"
    assert _run(left) == ran
    _explained(decided)


def _explained(decided: Analysis) -> None:
    """Live symbols are of kept files, and no chain goes in a circle."""
    data, edges = json.loads(json.dumps([decided.symbols, decided.symbol_edges]))
    symbols = Symbols(data, lambda: edges)
    for number, unit in enumerate(symbols.units):
        if not unit.live:
            continue
        assert symbols.path(number) in decided.graph.kept, unit
        [chain, *_] = symbols.explain(number)
        assert chain.steps and chain.steps[0].src.startswith("root:"), unit
        if unit.kind == "class":
            members = [
                step.dst for step in chain.steps if step.dst.startswith(f"symbol:{unit.name}.")
            ]
            assert not members, f"{unit.name} is explained by {members}"


def test_the_order_in_which_modules_were_folded_is_none_of_the_search(tmp_path: Path) -> None:
    """Workers are done in any order, and who names something first is who is said to name it."""
    [archive] = [path for path in ARCHIVES if path.stem == "reexports"]
    tree = make_tree(
        tmp_path / "up", {p: t for p, t in read_program(archive).files.items() if p.endswith(".py")}
    )
    folded = analyse(Run(tree, small_rules(tmp_path), 1, Silent())).folded.values()
    orders = [list(Program(modules, ()).modules) for modules in (folded, reversed(list(folded)))]
    assert len(orders[0]) > 2 and orders[0] == orders[1]
