"""Targets of the Makefile: one that did its work succeeds and says where its pages are, and an error stays one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = ["diff.html", "diff.json", "diff.md"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The Makefile and its scripts, with programs that write down what they are asked and end as CODE says."""
    shutil.copytree(REPOSITORY / ".ci", tmp_path / ".ci")
    for name in ("Makefile", "uv.lock", "pyproject.toml"):
        shutil.copy(REPOSITORY / name, tmp_path)
    program = tmp_path / ".venv/bin/shrinker"
    program.parent.mkdir(parents=True)
    program.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && exit ${BROKEN:-0}\necho "$@" >> asked\necho a document\n'
        'for word in "$@"; do case "$before" in --markdown | --html) echo a page > "$word" ;; esac; before=$word; done\n'
        "exit $CODE\n"
    )
    (program.parent / "python").write_text('#!/bin/sh\necho python "$@" >> asked\n')
    for path in program.parent.iterdir():
        path.chmod(0o755)
    (tmp_path / ".venv/.ready").touch()
    return tmp_path


def _make(checkout: Path, *words: str, code: int = 0, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name != "MFLAGS"}
    environment = kept | {"CODE": str(code)} | variables
    return subprocess.run(["make", *words], cwd=checkout, env=environment, capture_output=True, text=True)


DIFF = ["diff", "OLD=one", "NEW=other"]
CHECK_UPSTREAM = ["check-upstream", "UPSTREAM=release:1.0"]


@pytest.mark.parametrize("words", [DIFF, [*DIFF, "PAGES=dist/pages"], CHECK_UPSTREAM])
@pytest.mark.parametrize("code", [0, 1, 2, 130])
def test_an_answer_is_no_error(checkout: Path, words: list[str], code: int) -> None:
    done = _make(checkout, *words, code=code)
    assert (done.returncode == 0) is (code < 2), done.stderr
    told = "pages: dist/pages/diff.md" in done.stdout
    assert told is (code < 2 and "PAGES=dist/pages" in words)


def test_a_command_that_cannot_start_answers_nothing(checkout: Path) -> None:
    for words in (DIFF, CHECK_UPSTREAM):
        assert _make(checkout, *words, code=1, BROKEN="1").returncode != 0


def test_an_old_name_ends_with_the_new_one(checkout: Path) -> None:
    for old, new in (("doctor", "check-upstream"), ("survivors", "leftovers")):
        done = _make(checkout, old)
        assert done.returncode == 2 and f"make {new}" in done.stderr


def test_pages_of_a_run_before_are_not_taken_for_this_ones(checkout: Path) -> None:
    assert _make(checkout, *DIFF, "PAGES=dist/pages").returncode == 0
    assert sorted(path.name for path in (checkout / "dist/pages").iterdir()) == PAGES
    (checkout / ".venv/bin/shrinker").write_text("#!/bin/sh\nexit 2\n")
    (checkout / "dist/pages/notes.txt").write_text("mine\n")
    assert _make(checkout, *DIFF, "PAGES=dist/pages").returncode != 0
    left = {path.name: path.read_text() for path in (checkout / "dist/pages").iterdir()}
    assert left == {"diff.json": "", "notes.txt": "mine\n"}, "what the command itself left, and what is not its own"


@pytest.mark.parametrize("words", [["bump", "RELEASE=1.0"], ["shrink"], ["leftovers"], ["cross-check"], ["publish"]])
def test_failed_evidence_is_an_error(checkout: Path, words: list[str]) -> None:
    assert _make(checkout, *words).returncode == 0
    assert _make(checkout, *words, code=1).returncode != 0


def test_a_bump_says_where_its_page_is(checkout: Path) -> None:
    done = _make(checkout, "bump", "RELEASE=1.0", "SUMMARY=dist/summary.md")
    assert "page: dist/summary.md" in done.stdout
    assert (checkout / "asked").read_text().splitlines() == [
        "bump --profile deepseek --release 1.0 --summary dist/summary.md",
        "python -m benchmarks.readme",
    ]
    assert "page: " not in _make(checkout, "bump", "RELEASE=1.0", "SUMMARY=dist/summary.md", code=1).stdout


def test_a_review_that_finds_a_difference_succeeds(checkout: Path) -> None:
    (checkout / ".ci/base-tree").write_text("exit ${NO_BASE:-0}\n")
    done = _make(checkout, "review", "BASE=HEAD", code=1)
    assert done.returncode == 0 and "pages: dist/review/diff.md" in done.stdout
    assert _make(checkout, "review", "BASE=HEAD", code=2).returncode != 0
    assert _make(checkout, "review", "BASE=HEAD", NO_BASE="1").returncode != 0
