"""What a module's imports lead to is folded before the search asks for it, once; the phases of a run are its time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from shrinker.cache import Cache
from shrinker.facts.build import build_environment, chunks
from shrinker.fold import workers
from shrinker.fold.engine import FoldEngine
from shrinker.pipeline.progress import timed
from shrinker.program.build import build_graph
from shrinker.program.reach import import_leads
from shrinker.ruleset import Ruleset
from shrinker.values.upstream import UpstreamTree
from tests.fold.programs import make_tree
from tests.pipeline.silent import Silent
from tests.program.symbols.support import small_rules
from tests.small import rule

_RULES = rule("root", "serve", modules=["sglang.serve"]) + rule(
    "remove", "remove-gone", feature="gone", modules=["sglang.gone.**"]
)
_FILES = {
    "__init__.py": "",
    "serve.py": "from sglang.deep import first\n\n\ndef later():\n    import sglang.gone.npu\n\n\nBY_NAME = 'sglang.named'\n",
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
    return make_tree(tmp_path / "tree", {f"python/sglang/{name}": text for name, text in _FILES.items()})


@pytest.fixture
def rules(tmp_path: Path) -> Ruleset:
    return small_rules(tmp_path, root=_RULES)


def _engine(tree: UpstreamTree, rules: Ruleset, jobs: int, cache: Cache | None = None) -> FoldEngine:
    environment = build_environment(tree, rules, jobs=1)
    return FoldEngine(tree, environment, jobs=jobs, cache=cache, leads=import_leads(tree, rules))


def _path(name: str) -> str:
    return f"python/sglang/{name}.py"


@pytest.mark.parametrize("cached", [False, True])
def test_other_processes_go_on_with_what_a_module_imports(
    tree: UpstreamTree, rules: Ruleset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cached: bool
) -> None:
    monkeypatch.setattr(workers, "_SERIAL_BYTES", 0)
    with _engine(tree, rules, 1) as alone:
        expected = build_graph(tree, rules, alone.fold)
    with _engine(tree, rules, 2, Cache(tmp_path / "cache") if cached else None) as engine:
        # Two modules, so that the processes start.
        list(engine.fold([_path("serve"), _path("__init__")]))
        ahead = [_path(n) for n in ("deep/__init__", "deep/first", "deep/second", "deep/third", "side")]
        # Neither what only a text names nor what a rule removes.
        assert sorted(engine.folded) == sorted([_path("serve"), _path("__init__"), *ahead])
        assert build_graph(tree, rules, engine.fold) == expected
        assert sorted(engine.folded) == sorted(alone.folded)
        assert engine.folded_anew == len(engine.folded)


def test_a_wave_is_handed_out_in_parts_that_leave_no_process_waiting(tmp_path: Path) -> None:
    sizes = {"large": 900, "middle": 500, "small": 60, "smaller": 40, "least": 20}
    tree = make_tree(tmp_path / "tree", {_path(name): "#" * size for name, size in sizes.items()})
    groups = list(chunks(tree, [_path(name) for name in sorted(sizes)], 100))
    assert groups == [[_path("large")], [_path("middle")], [_path("small"), _path("smaller")], [_path("least")]]


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
