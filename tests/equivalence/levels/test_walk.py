"""Every module imported, upstream's lines followed, and what is not run again, on small trees."""

from pathlib import Path

import pytest

from equivalence.levels import Following, Setting, imports, server, trace
from equivalence.levels.model import call_of
from equivalence.levels.result import Ledger
from equivalence.levels.scenarios import Configuration, Scenario
from equivalence.levels.setting import GENERATED, UPSTREAM, Call
from equivalence.simulation.environment import Simulation
from equivalence.simulation.executed import Executed, together
from shrinker.cache import Cache
from tests.simulations import simulation_python, write_package
from tests.small import write

UPSTREAM_FILES = {
    "__init__.py": "",
    "good.py": "import sglang.other",
    "other.py": "VALUE = 1",
    "broken.py": "import surely_not_a_package",
    "leaves.py": "import sys; sys.exit(3)",
    "folder/within.py": "from sglang.other import VALUE",
}


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(Simulation(simulation_python()), tmp_path / "work")


def walked(setting: Setting, tmp_path: Path, generated: dict[str, str]) -> Ledger:
    trees = {
        UPSTREAM: write_package(tmp_path / "upstream", UPSTREAM_FILES),
        GENERATED: write_package(tmp_path / "generated", generated),
    }
    ledger = Ledger("imports")
    imports._walk(trees, setting, ledger)
    return ledger


def test_the_same_failures_are_inherited(setting: Setting, tmp_path: Path) -> None:
    ledger = walked(setting, tmp_path, UPSTREAM_FILES)
    assert ledger.findings == []
    assert ledger.checks == {"modules": 6}
    assert [f.path for f in ledger.inherited] == [
        "python/sglang/broken.py",
        "python/sglang/leaves.py",
    ]


def test_a_lost_name_and_another_error_are_found(setting: Setting, tmp_path: Path) -> None:
    generated = {**UPSTREAM_FILES, "other.py": "pass", "broken.py": "raise ValueError('new')"}
    ledger = walked(setting, tmp_path, generated)
    assert [f.path for f in ledger.findings] == [
        "python/sglang/broken.py",
        "python/sglang/folder/within.py",
    ]
    assert "cannot import name 'VALUE'" in ledger.findings[1].message
    assert (
        "<tree>" in ledger.findings[1].message and str(tmp_path) not in ledger.findings[1].message
    )


def test_an_import_that_waits_is_named(
    setting: Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "_SECONDS", 1)
    generated = {**UPSTREAM_FILES, "other.py": "import time\nVALUE = 1\ntime.sleep(100)"}
    ledger = walked(setting, tmp_path, generated)
    found = [f.message for f in ledger.findings if f.path.endswith("other.py")]
    assert (
        len(found) == 1 and "still not imported after 1 s" in found[0] and "other.py:3" in found[0]
    )


def test_a_tree_that_kills_the_process_is_a_finding(setting: Setting, tmp_path: Path) -> None:
    ledger = walked(setting, tmp_path, {**UPSTREAM_FILES, "good.py": "import os; os._exit(7)"})
    assert [f.check for f in ledger.findings] == ["walk"]
    assert "ended with 7" in ledger.findings[0].message


UPSTREAM_TEXT = "def work(x):\n    done = x + 1\n    return done\n"


def setting_of(folder: Path, cache: Cache) -> Setting:
    following = Following(folder, layer=cache.layer("executed"), upstream="small")
    return Setting(Simulation(simulation_python()), folder, following=following)


def tree_of(folder: Path, text: str) -> Path:
    return write_package(folder, {"__init__.py": text})


def followed_as(setting: Setting, side: str, tree: Path, code: str, follow: str) -> None:
    """Run some code as a program of the levels."""
    program = write(setting.work, {"program.py": code}) / "program"
    setting.program(side, tree, Call(str(program), {side: {}}, 60, "small", follow=follow))


def test_upstream_is_followed_and_the_generated_tree_is_not(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    setting = setting_of(tmp_path / "work", cache)
    tree = tree_of(tmp_path / "tree", UPSTREAM_TEXT)
    code = "import sglang; sglang.work(1)"
    followed_as(setting, GENERATED, tree, code, "small")
    assert setting.following is not None
    assert setting.following.known("small") is None
    followed_as(setting, UPSTREAM, tree, code, "")
    assert setting.following.known("small") is None
    followed_as(setting, UPSTREAM, tree, code, "small")
    assert setting.following.known("small") == Executed(
        {"__init__.py": frozenset({2, 3})}, {"__init__.py": frozenset({1})}
    )
    # Another run of the tool finds them again; another upstream's are not these.
    other = setting_of(tmp_path / "other", cache)
    assert other.following is not None
    assert other.following.known("small") == setting.following.known("small")
    assert (
        Following(tmp_path, layer=cache.layer("executed"), upstream="another").known("small")
        is None
    )
    made, _, kept = other.prepared(UPSTREAM, tree, "again", "small")
    assert made.settings.executed == kept == ""


def test_a_program_that_fails_is_not_remembered(tmp_path: Path) -> None:
    setting = setting_of(tmp_path / "work", Cache())
    tree = tree_of(tmp_path / "tree", UPSTREAM_TEXT)
    followed_as(setting, UPSTREAM, tree, "import sglang, sys; sys.exit(3)", "small")
    assert setting.following is not None
    assert setting.following.known("small") is None


def followed(folder: Path) -> tuple[Setting, Path, Configuration]:
    """A setting that knows two executed lines of a configuration, and upstream's tree."""
    setting = setting_of(folder / "work", Cache())
    one = Configuration(name="small", published="v3")
    assert setting.following is not None
    setting.following._known[call_of(one, setting).follow] = Executed(
        {"__init__.py": frozenset({2, 3})}, {}
    )
    return setting, tree_of(folder / "upstream", UPSTREAM_TEXT), one


@pytest.mark.parametrize(
    ("text", "missing"), [(UPSTREAM_TEXT, []), ("def work(x):\n    return x + 1\n", [3])]
)
def test_the_level_names_what_is_missing(tmp_path: Path, text: str, missing: list[int]) -> None:
    setting, upstream, one = followed(tmp_path)
    generated = tree_of(tmp_path / "generated", text)
    found = trace.run(upstream, generated, setting, [one]).evidence
    assert [(f.path, f.line) for f in found.findings] == [
        ("python/sglang/__init__.py", line) for line in missing
    ]
    assert dict(found.checks)["programs"] == 1
    assert dict(found.checks)["executed lines"] == 2


def test_nothing_followed_is_no_evidence(tmp_path: Path) -> None:
    setting = setting_of(tmp_path / "work", Cache())
    tree = tree_of(tmp_path / "tree", UPSTREAM_TEXT)
    assert not trace.run(tree, tree, setting, ()).evidence.passed


@pytest.mark.parametrize("needed", [True, False])
def test_a_server_of_upstreams_that_does_not_start_is_a_fault_only_where_it_has_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, needed: bool
) -> None:
    setting, tree, one = followed(tmp_path)
    monkeypatch.setattr(server, "observe", lambda *_: None)
    asked = Scenario(name="seldom", needed=needed)
    found = trace.run(tree, tree, setting, [one, asked])
    assert found.passed is not needed
    assert (
        any("seldom: upstream did not run to its end" in sentence for sentence in found.limits)
        is not needed
    )


def test_lines_of_several_programs() -> None:
    found = together(
        [
            Executed({"a.py": frozenset({1})}, {"a.py": frozenset({5})}),
            Executed({"a.py": frozenset({2}), "b.py": frozenset({3})}, {}),
        ]
    )
    assert found == Executed(
        {"a.py": frozenset({1, 2}), "b.py": frozenset({3})}, {"a.py": frozenset({5})}
    )
