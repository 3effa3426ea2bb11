"""What holds for the repository as a whole: imports lead in one direction, pages say what they are
made of.
"""

import graphlib
import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import grimp
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks.readme import README, SUMMARY, updated
from shrinker.source.pins import index_commit, load_pins
from shrinker.source.repository import git
from tests.small import write
from tools.rules_page import PAGE, page

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("package", ["shrinker", "equivalence", "tools"])
def test_files_import_each_other_in_one_direction(package: str) -> None:
    graph = grimp.build_graph(package, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    graphlib.TopologicalSorter(imports).prepare()


def test_the_submodule_is_in_the_index_at_the_pinned_commit() -> None:
    pins = load_pins(REPOSITORY)
    assert index_commit(REPOSITORY, pins.submodule_path) == pins.submodule_commit


def test_make_upstream_checks_the_submodule_out(tmp_path: Path) -> None:
    """A small repository takes the place of upstream's, which not every machine reaches."""
    small = write(tmp_path / "small", {"python/sglang/__init__.py": ""})
    git("init", "--quiet", at=small)
    git("add", ".", at=small)
    git(
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "commit",
        "--quiet",
        "--message",
        "one",
        at=small,
    )
    commit = git("rev-parse", "HEAD", at=small).strip()
    clone = tmp_path / "clone"
    git("clone", "--quiet", str(REPOSITORY), str(clone), at=tmp_path)
    git("update-index", "--add", "--cacheinfo", f"160000,{commit},upstream", at=clone)
    git("config", "submodule.upstream.url", small.as_uri(), at=clone)
    # Git reads no submodule from the file system unless it is told to.
    allowed = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "protocol.file.allow",
        "GIT_CONFIG_VALUE_0": "always",
    }
    done = subprocess.run(
        ["make", "upstream"], cwd=clone, env=os.environ | allowed, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (clone / "upstream/python/sglang/__init__.py").is_file()
    assert git("submodule", "status", at=clone).split()[:2] == [commit, "upstream"]


CARD = [
    "libcst",
    "networkx",
    "pydeps",
    "vulture",
    "coverage",
    "torch",
    "sgl-kernel",
    "flashinfer",
    "fastapi",
    "pytest",
]
"""The packages that the project was asked to be made with."""
DISTRIBUTIONS = {"sgl-kernel": "sglang-kernel", "flashinfer": "flashinfer-python"}


def test_the_table_of_named_packages_is_true() -> None:
    text = (REPOSITORY / "ARCHITECTURE.md").read_text("utf-8")
    rows = re.findall(r"(?m)^\| ([\w-]+) \| `([\w/.]+\.py)` \| [^|]+ \| ([^|]+) \|$", text)
    assert sorted(name for name, _, _ in rows) == sorted(CARD)
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    server = json.loads((REPOSITORY / "reports/deepseek/dependencies.json").read_text("utf-8"))[
        "dependencies"
    ]
    lists = {
        "shrinker": project["project"]["dependencies"],
        "shrinker, to develop": project["dependency-groups"]["dev"],
        "the generated server": server,
    }
    for name, place, required in rows:
        assert name.replace("-", "_") in (REPOSITORY / place).read_text("utf-8"), (
            f"{place} does not name {name}"
        )
        distributions = {canonicalize_name(Requirement(each).name) for each in lists[required]}
        assert DISTRIBUTIONS.get(name, name) in distributions, f"{required} does not require {name}"


def test_rule_files_that_pages_name_are_there() -> None:
    pages = [
        *REPOSITORY.glob("*.md"),
        *REPOSITORY.glob("docs/**/*.md"),
        *REPOSITORY.glob("*/**/*.jinja"),
    ]
    named = {
        name
        for page in pages
        for name in re.findall(r"`(rules/[\w/]+\.toml)`", page.read_text("utf-8"))
    }
    assert named
    assert [name for name in sorted(named) if not (REPOSITORY / name).is_file()] == []


def test_figures_are_those_of_the_report() -> None:
    text = README.read_text("utf-8")
    assert updated(text, json.loads(SUMMARY.read_text("utf-8"))) == text


def test_a_commit_that_no_release_equals_is_named_by_its_hash() -> None:
    summary = json.loads(SUMMARY.read_text("utf-8"))
    summary["upstream"] |= {"version": None, "commit": "0123456789abcdef"}
    assert "For SGLang 0123456789ab, profile" in updated(README.read_text("utf-8"), summary)


def test_the_committed_page_is_that_of_the_models() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `python -m tools.rules_page`"


def test_every_key_of_a_kind_is_told() -> None:
    assert "| `only_when_asked` |" in page() and "## `[[reject]]`" in page()
    assert " |  |\n" not in page(), "a key without a docstring"
