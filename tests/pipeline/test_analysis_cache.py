"""What earlier runs left, and what is folded ahead, changes how long an analysis takes, and nothing
that it says.
"""

import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from shrinker.cache import Cache
from shrinker.facts.environment import build_environment
from shrinker.fold import workers
from shrinker.fold.engine import FoldEngine
from shrinker.pipeline import Run, analyse
from shrinker.pipeline.run import timed
from shrinker.program.reach import FileGraph
from shrinker.ruleset import Ruleset
from shrinker.values.folded import NOTHING
from shrinker.values.upstream import UpstreamTree
from tests.fold.programs import PROGRAMS, make_tree, read_program
from tests.program.symbols.support import ROOT, small_rules
from tests.small import Silent, read_archive, rule

_RULES = (
    ROOT
    + rule("fact", "fact-hip", calls=["sglang.srt.utils.is_hip"], value=False)
    + rule("keep", "keep-notes", paths=["notes/**"])
    + rule("keep", "keep-kernels", paths=["kernels/**"])
    + rule(
        "remove", "remove-gone", feature="another platform", modules=["sglang.gone", "sglang.other"]
    )
    + rule("sibling_package", "kernels", folder="kernels/fast")
)
LAUNCH, PARTS = "python/sglang/launch_server.py", "python/sglang/parts.py"
FILES = read_archive(Path(__file__).with_name("analysed.txtar"))
_RESCUING = {
    LAUNCH: FILES[LAUNCH]
    .replace("print(", "print(RATE, ")
    .replace("\n\n\ndef", "\nfrom sglang.other import RATE\n\n\ndef", 1)
}


def _rules(folder: Path, more: str = "") -> Ruleset:
    return small_rules(folder, more, root=_RULES)


def _said(
    folder: Path, files: dict[str, str], rules: Ruleset, cache: Cache, **more: Any
) -> dict[str, Any]:
    """All that an analysis says, ready to be compared."""
    return asdict(analyse(Run(make_tree(folder, files), rules, 1, Silent(), cache), **more))


def _found(
    folder: Path, files: dict[str, str], rules: Ruleset, cold: dict[str, Any], **more: Any
) -> bool:
    """Whether the analysis of an earlier run was used; either way it is what a cold run says."""
    cache = Cache(folder.parent / "cache")
    assert _said(folder, files, rules, cache, **more) == cold
    assert cache.counts["analyses"].asked == 1
    return cache.counts["analyses"].found == 1


_CHANGES: dict[str, tuple[bool, dict[str, str | None]]] = {
    "nothing": (True, {}),
    "a file that no step kept": (True, {"docs/use.md": "other words\n"}),
    "a file outside came": (False, {"notes/second.txt": "words\n"}),
    "a file outside went": (False, {"notes/first.txt": None}),
    "a kept file names something": (False, {"notes/first.txt": "only_hip\n"}),
    "a kept file that names the package names more": (
        False,
        {"notes/use.py": FILES["notes/use.py"] + "print(public)\n"},
    ),
    "a companion": (False, {"kernels/fast/__init__.py": "RATE = 3\n"}),
    "a kernel names something": (
        False,
        {"python/sglang/data/kernel.cu": '#include "kernel.h"\nint only_hip;\n'},
    ),
    "a module came": (False, {"python/sglang/fresh.py": ""}),
    "a module went": (False, {"python/sglang/gone.py": None}),
    "a removed module names a method": (False, {"python/sglang/gone.py": "Engine().public()\n"}),
    "a kept module names more": (
        False,
        {LAUNCH: FILES[LAUNCH].replace(".run()", ".run(), start().public()")},
    ),
    "a kept module needs a removed one": (False, dict(_RESCUING)),
}


@pytest.mark.parametrize(("found", "change"), _CHANGES.values(), ids=_CHANGES.keys())
def test_an_analysis_is_used_again_where_nothing_that_it_looks_at_changed(
    tmp_path: Path, found: bool, change: dict[str, str | None]
) -> None:
    rules = _rules(tmp_path)
    _said(tmp_path / "before", FILES, rules, Cache(tmp_path / "cache"))
    files = {path: text for path, text in {**FILES, **change}.items() if text is not None}
    cold = _said(tmp_path / "cold", files, rules, Cache())
    assert _found(tmp_path / "warm", files, rules, cold) is found
    # And then it is known.
    assert _found(tmp_path / "once more", files, rules, cold)


def test_other_rules_and_files_that_cannot_be_written_are_another_analysis(tmp_path: Path) -> None:
    rules = _rules(tmp_path)
    _said(tmp_path / "before", FILES, rules, Cache(tmp_path / "cache"))
    other = _rules(tmp_path / "other", rule("keep", "keep-docs", paths=["docs/**"]))
    assert not _found(
        tmp_path / "warm", FILES, other, _said(tmp_path / "cold", FILES, other, Cache())
    )
    stay = {"unwritable": {PARTS: "cannot be written"}}
    cold = _said(tmp_path / "cold stay", FILES, rules, Cache(), **stay)
    assert not _found(tmp_path / "warm stay", FILES, rules, cold, **stay)


def _edits(files: dict[str, str]) -> Iterator[dict[str, str]]:
    for path, text in files.items():
        yield files | {path: text + "\n# edited\n"}
        yield files | {path: "# edited\n" + text}
        yield files | {path: text + "\nEDITED = 1\n"}
        yield files | {path: text.replace("return ", "return not ")}


@pytest.mark.parametrize(
    "archive", sorted((PROGRAMS / "symbols").glob("*.txtar")), ids=lambda path: path.stem
)
def test_a_warm_analysis_is_a_cold_one(tmp_path: Path, archive: Path) -> None:
    """Foldings of earlier runs are used again: each in a world that answers as it did."""
    rules = _rules(tmp_path)
    files = {
        path: text for path, text in read_program(archive).files.items() if path.endswith(".py")
    }
    cache = Cache(tmp_path / "cache")
    _said(tmp_path / "first", files, rules, cache)
    for number, edited in enumerate(_edits(files)):
        cold = _said(tmp_path / f"cold{number}", edited, rules, Cache())
        _found(tmp_path / f"warm{number}", edited, rules, cold)
    assert cache.counts["folded"].asked > 0


def test_what_lies_beside_the_package_sees_the_modules_that_stay(tmp_path: Path) -> None:
    """A module that a rule removes is rescued by code that needs it: then it is there for a
    companion, too.
    """
    rules, path = _rules(tmp_path), "kernels/fast/__init__.py"
    tree = make_tree(tmp_path / "rescued", FILES | _RESCUING)
    found = analyse(Run(tree, rules, 1, Silent()))
    assert list(found.rescued) == ["sglang.other"] and not found.folded[path].edits
    # And where it is not there, the companion has no need to try.
    without = analyse(Run(make_tree(tmp_path / "without", FILES), rules, 1, Silent()))
    assert without.folded[path].edits


_SERVED = rule("root", "serve", modules=["sglang.serve"]) + rule(
    "remove", "remove-gone", feature="gone", modules=["sglang.gone.**"]
)
_LEADING = {
    "__init__.py": "",
    "serve.py": (
        "from sglang.deep import first\n\n\ndef later():\n"
        "    import sglang.gone.npu\n\n\nBY_NAME = 'sglang.named'\n"
    ),
    "deep/__init__.py": "",
    "deep/first.py": "from . import second\nimport sglang.side\n",
    "deep/second.py": "from sglang.deep.third import *\n",
    "deep/third.py": "import json\n",
    "side.py": "import sglang.serve\n",
    "named.py": "from sglang.deep import third\n",
    "unused.py": "import sglang.serve\n",
    "gone/__init__.py": "",
    "gone/npu.py": "import sglang.unused\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> UpstreamTree:
    return make_tree(
        tmp_path / "tree", {f"python/sglang/{name}": text for name, text in _LEADING.items()}
    )


@pytest.fixture
def rules(tmp_path: Path) -> Ruleset:
    return small_rules(tmp_path, root=_SERVED)


def _engine(
    tree: UpstreamTree, rules: Ruleset, jobs: int, cache: Cache | None = None
) -> FoldEngine:
    environment = build_environment(tree, rules, jobs=1)
    return FoldEngine(tree, environment, jobs=jobs, cache=cache, leads=FileGraph(tree, rules).leads)


def _path(name: str) -> str:
    return f"python/sglang/{name}.py"


@pytest.mark.parametrize("cached", [False, True])
def test_other_processes_go_on_with_what_a_module_imports(
    tree: UpstreamTree,
    rules: Ruleset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cached: bool,
) -> None:
    monkeypatch.setattr(workers, "_SERIAL_BYTES", 0)
    with _engine(tree, rules, 1) as alone:
        expected = FileGraph(tree, rules).build(alone.fold)
    with _engine(tree, rules, 2, Cache(tmp_path / "cache") if cached else None) as engine:
        # Two modules, so that the processes start.
        list(engine.fold([_path("serve"), _path("__init__")]))
        ahead = [
            _path(n) for n in ("deep/__init__", "deep/first", "deep/second", "deep/third", "side")
        ]
        # Neither what only a text names nor what a rule removes.
        assert sorted(engine.folded) == sorted([_path("serve"), _path("__init__"), *ahead])
        assert FileGraph(tree, rules).build(engine.fold) == expected
        assert sorted(engine.folded) == sorted(alone.folded)
        assert engine.folded_anew == len(engine.folded)


def test_a_wave_is_handed_out_in_parts_that_leave_no_process_waiting(tmp_path: Path) -> None:
    sizes = {"large": 900, "middle": 500, "small": 60, "smaller": 40, "least": 20}
    tree = make_tree(tmp_path / "tree", {_path(name): "#" * size for name, size in sizes.items()})
    groups = workers.chunks(tree, [(_path(name), NOTHING) for name in sorted(sizes)], 100)
    assert [[Path(p).stem for p, _ in g] for g in groups] == [
        ["large"],
        ["middle"],
        ["small", "smaller"],
        ["least"],
    ]


def test_what_an_earlier_run_folded_is_not_folded_ahead(
    tree: UpstreamTree, rules: Ruleset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_SERIAL_BYTES", 0)
    with _engine(tree, rules, 1, Cache(tmp_path / "cache")) as before:
        before.fold([_path("deep/first"), _path("deep/second")])
    cache = Cache(tmp_path / "cache")
    with _engine(tree, rules, 2, cache) as engine:
        engine.fold([_path("serve"), _path("__init__")])
        assert _path("deep/third") in engine.folded
        assert engine.folded_anew == len(engine.folded) - 2
    assert cache.counts["folded"].found == 2


def test_a_phase_within_another_counts_once() -> None:
    timings: dict[str, float] = {"before": 5.0}
    start = time.perf_counter()
    with timed("outer", timings, Silent()):
        time.sleep(0.02)
        with timed("inner", timings, Silent()):
            time.sleep(0.1)
    taken = time.perf_counter() - start
    assert sum(timings.values()) - 5.0 == pytest.approx(taken, abs=0.01)
    assert timings["inner"] >= 0.1 and timings["outer"] < timings["inner"]


def test_a_phase_that_fails_has_its_time() -> None:
    timings: dict[str, float] = {}
    with pytest.raises(ZeroDivisionError), timed("fails", timings, Silent()):
        time.sleep(0.01)
        raise ZeroDivisionError
    assert timings["fails"] >= 0.01
