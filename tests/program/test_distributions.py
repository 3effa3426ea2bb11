"""Which distributions stay: first what must, then what goes, and what `why` and `why-not` say of
both; targets of a crate.
"""

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from shrinker.emit.tree import without_lines
from shrinker.program.answers import SavedRun, why, why_not
from shrinker.program.distributions import PYPROJECT, decide_distributions, with_uncertain
from shrinker.program.native.cuts import cargo_cuts
from shrinker.program.saved import graph_data
from shrinker.program.written import written_imports
from shrinker.report.dependencies import importers
from shrinker.ruleset.models import Distribution, Listing, Remove
from shrinker.values.distributions import Distribution as Row
from shrinker.values.distributions import Distributions
from shrinker.values.errors import InputError
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph, Removal, Site
from shrinker.values.upstream import DeclaredPackage, UpstreamTree
from tests.program.small_tree import WHY, build, rules_of, write_tree
from tests.small import read_archive

TABLE = (
    Distribution(id="zmq", why=WHY, name="PyZMQ", imports=("zmq",)),
    Distribution(id="spans", why=WHY, name="spans-sdk", imports=("spans.sdk",)),
    Distribution(id="bus", why=WHY, name="spans-bus", imports=("spans.bus",)),
    Distribution(
        id="builder", why=WHY, name="builder", imports=("builder",), needed_by=("cache_of_kernels",)
    ),
    Distribution(
        id="cache", why=WHY, name="cache-of-kernels", imports=("kernelcache",), needed_by=("numpy",)
    ),
    Distribution(id="probe", why=WHY, name="stack-probe", commands=("stack-probe",)),
    Distribution(id="pinned", why=WHY, name="pinned", always=True),
)
GONE = Remove(id="other-builds", why=WHY, feature="other builds", extras=("*hip*",))
LISTING = Listing(id="report", why=WHY, modules=("sglang.report",))


def decide(
    folder: Path,
    sources: dict[str, str],
    *dependencies: str,
    extras: dict[str, tuple[str, ...]] | None = None,
) -> tuple[Distributions, Graph, dict[str, FoldedModule]]:
    tree: UpstreamTree = write_tree(folder, {"__init__.py": "", "lost.py": "", **sources})
    tree = replace(
        tree, declared=DeclaredPackage("sglang", "", tuple(sorted(dependencies)), extras or {}, {})
    )
    rules = rules_of(distributions=TABLE, removes=(GONE,), listings=(LISTING,))
    graph, folded = build(tree, rules)
    return decide_distributions(tree, rules, graph, folded, written_imports(tree)), graph, folded


def row(found: Distributions) -> Row:
    (only,) = found.rows
    return only


@pytest.mark.parametrize(
    ("state", "requirement", "sources"),
    [
        *(
            ("imported", requirement, {"main.py": code})
            for requirement, code in [
                ("numpy>=1", "import numpy"),
                ("Num.Py_x", "import num_py_x.linalg as n"),
                ("pyzmq", "def f():\n    import zmq"),
                (
                    "pyzmq",
                    "try:\n    from zmq.asyncio import Context\nexcept ImportError:\n    pass",
                ),
                ("pyzmq", "import importlib\nimportlib.import_module('zmq')"),
                ("pyzmq", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import zmq"),
                ("spans-sdk", "from spans import sdk"),
                ("spans-sdk", "from spans.sdk.trace import Tracer"),
                ("spans-sdk", "import spans"),
                ("spans-sdk", "from spans import *"),
            ]
        ),
        ("named", "pyzmq", {"main.py": "from importlib.util import find_spec\nfind_spec('zmq')"}),
        ("named", "pyzmq", {"main.py": "from importlib.metadata import version\nversion('pyzmq')"}),
        ("named", "spans-sdk", {"main.py": "NAME = 'spans.sdk.trace:Tracer'"}),
        # An undeclared module loads it; a rule says so.
        ("needed", "cache-of-kernels", {"main.py": "import numpy"}),
        ("needed", "pinned", {"main.py": ""}),
        ("dropped", "scipy", {"main.py": "", "lost.py": "import scipy.fft"}),
        ("dropped", "pyzmq", {"main.py": ""}),
        ("dropped", "spans-sdk", {"main.py": "from spans.bus import Bus"}),
        ("dropped", "spans-sdk", {"main.py": "from spans import bus"}),
        ("dropped", "cache-of-kernels", {"main.py": ""}),
        ("dropped", "stack-probe", {"main.py": "stack = probe = 1"}),
        (
            "dropped",
            "pyzmq",
            {"main.py": "import sglang.report", "report.py": "NAMES = ['pyzmq', 'zmq']"},
        ),
        ("dropped", "pyzmq", {"main.py": "'''zmq'''\nKEY = 'zmqs'"}),
    ],
)
def test_why_one_stays_or_goes(
    tmp_path: Path, state: str, requirement: str, sources: dict[str, str]
) -> None:
    found, _, _ = decide(tmp_path, sources, requirement)
    assert row(found).state == state
    assert found.dependencies == (() if state == "dropped" else (requirement,))
    if state == "imported":
        assert row(found).users[0][0] == "python/sglang/main.py"


def test_kept_because_it_is_loaded_by_what_is_kept(tmp_path: Path) -> None:
    found, _, _ = decide(
        tmp_path, {"main.py": "import numpy"}, "builder", "cache-of-kernels", "numpy"
    )
    assert {r.name: (r.state, r.needed_by) for r in found.rows} == {
        "builder": ("needed", "cache_of_kernels"),
        "cache-of-kernels": ("needed", "numpy"),
        "numpy": ("imported", ""),
    }


def test_kept_because_nothing_is_known_of_it(tmp_path: Path) -> None:
    found, graph, _ = decide(tmp_path, {"main.py": ""}, "mystery==1")
    assert row(found).state == "uncertain" and found.dependencies == ("mystery==1",)
    (doubt,) = with_uncertain(graph, found).uncertain
    assert doubt.path == PYPROJECT and "mystery" in doubt.reason


def test_two_that_need_each_other_do_not_keep_each_other(tmp_path: Path) -> None:
    found, _, _ = decide(tmp_path, {"main.py": ""}, "builder", "cache-of-kernels")
    assert found.dependencies == ()


def test_extras_keep_what_is_used(tmp_path: Path) -> None:
    found, _, _ = decide(
        tmp_path,
        {"main.py": "import numpy, zmq", "lost.py": "import pytest"},
        "numpy ; python_version > '3'",
        extras={
            "all": ("sglang[bus,test]", "sglang[srt-hip]"),
            "bus": ("pyzmq>=25",),
            "dev": ("sglang[test]",),
            "srt-hip": ("numpy",),
            "test": ("pytest",),
        },
    )
    assert found.dependencies == ("numpy ; python_version > '3'",)
    assert found.extras == {"all": ("sglang[bus]",), "bus": ("pyzmq>=25",)}
    assert dict(found.dropped_extras)["srt-hip"] == "other builds (rule other-builds)"
    assert set(dict(found.dropped_extras)) == {"dev", "srt-hip", "test"}


def test_why_and_why_not(tmp_path: Path) -> None:
    sources = {"main.py": "import numpy\nimport zmq", "lost.py": "import scipy.fft"}
    names = ("builder", "cache_of_kernels", "mystery", "pyzmq", "scipy", "numpy")
    found, graph, folded = decide(tmp_path, sources, *names)
    saved = tmp_path / "graph.json"
    dropped = importers({row.name: row.importers for row in found.rows}, graph, folded)
    saved.write_text(json.dumps(graph_data(graph, folded, distributions=found, dropped=dropped)))
    run = SavedRun(saved)

    (chain,) = why(run, "PyZMQ")
    assert chain.target == "distribution:pyzmq"
    assert [(s.src, s.kind, s.line) for s in chain.steps] == [
        ("root:entry", "root", 0),
        ("module:sglang.main", "requires", 2),
    ]
    (chain,) = why(run, "builder")
    assert [s.dst for s in chain.steps][1:] == [
        "distribution:numpy",
        "distribution:cache-of-kernels",
        "distribution:builder",
    ]
    (chain,) = why(run, "mystery")
    assert not chain.steps and "nothing in upstream imports" in chain.uncertain
    for query in ("scipy", "distribution:scipy"):
        (answer,) = why_not(run, query)
        assert (answer.path, answer.rule) == ("distribution:scipy", "unreachable")
        assert answer.named_by[0] == Site(
            "python/sglang/lost.py", 1, "itself removed (unreachable)"
        )
        with pytest.raises(InputError, match="is not in the generated tree"):
            why(run, query)
    with pytest.raises(InputError, match="is kept"):
        why_not(run, "pyzmq")


CRATE = read_archive(Path(__file__).with_name("crate.txtar"))["Cargo.toml"]


def _cut(root: Path, crate: str) -> str:
    files = {
        f"/g/{path}": ""
        for path in ("src/main.rs", "benches/first.rs", "benches/by_name.rs", "benches/stays.rs")
    }
    tree = write_tree(root, {**files, "/g/Cargo.toml": crate})
    gone = ("g/benches/first.rs", "g/benches/by_name.rs")
    kept = {path: "" for path in tree.by_path if path not in gone}
    graph = Graph((), kept, {path: Removal("remove-benches", "") for path in gone}, ())
    cuts = [cut for _, cut in cargo_cuts(tree, graph)]
    return without_lines("g/Cargo.toml", crate.encode(), cuts).decode() if cuts else crate


def test_targets_go_with_their_sources(tmp_path: Path) -> None:
    cut = _cut(tmp_path, CRATE)
    before = tomllib.loads(CRATE)
    assert tomllib.loads(cut) == {**before, "bench": [{"name": "stays"}]}
    assert "# Of the next one.\n[[bench]]" in cut


def test_what_cannot_be_told_stays(tmp_path: Path) -> None:
    odd = CRATE.replace('[[bench]]\nname = "by_name"', '[[ bench ]]\nname = "by_name"')
    assert "by_name" in _cut(tmp_path, odd)
    assert _cut(tmp_path / "broken", "[[bench\n") == "[[bench\n"
