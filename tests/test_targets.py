"""Targets of the Makefile, which succeed where they did their work, and the Python that they make
the environment with.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = ["diff.html", "diff.json", "diff.md"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The Makefile and its scripts, with programs that write down what they are asked and end as
    CODE says.
    """
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


def _make(
    checkout: Path, *words: str, code: int = 0, **variables: str
) -> subprocess.CompletedProcess[str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("MAKE") and name != "MFLAGS"
    }
    environment = kept | {"CODE": str(code)} | variables
    return subprocess.run(
        ["make", *words], cwd=checkout, env=environment, capture_output=True, text=True
    )


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
    assert left == {"diff.json": "", "notes.txt": "mine\n"}, (
        "what the command itself left, and what is not its own"
    )


@pytest.mark.parametrize(
    "words", [["bump", "RELEASE=1.0"], ["shrink"], ["leftovers"], ["cross-check"], ["publish"]]
)
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
    assert (
        "page: "
        not in _make(checkout, "bump", "RELEASE=1.0", "SUMMARY=dist/summary.md", code=1).stdout
    )


def test_a_review_that_finds_a_difference_succeeds(checkout: Path) -> None:
    (checkout / ".ci/base-tree").write_text("exit ${NO_BASE:-0}\n")
    done = _make(checkout, "review", "BASE=HEAD", code=1)
    assert done.returncode == 0 and "pages: dist/review/diff.md" in done.stdout
    assert _make(checkout, "review", "BASE=HEAD", code=2).returncode != 0
    assert _make(checkout, "review", "BASE=HEAD", NO_BASE="1").returncode != 0


CHOOSER = Path(__file__).parents[1] / ".ci/interpreter.py"
Fakes = dict[str, str]


def _chosen(folder: Path, fakes: Fakes) -> str | None:
    """The command that is chosen of some that answer the probe with these lines (`$0`: their own
    path).
    """
    for name, answer in fakes.items():
        command = folder / name
        command.parent.mkdir(parents=True, exist_ok=True)
        command.write_text(f"#!/bin/sh\n{answer}\n")
        command.chmod(0o755)
    search = os.pathsep.join(dict.fromkeys(str((folder / name).parent) for name in fakes))
    done = subprocess.run(
        [sys.executable, "-I", CHOOSER],
        env={"PATH": search},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (0 if done.stdout else 1), done.stderr
    return str(Path(done.stdout.strip()).relative_to(folder)) if done.stdout else None


@pytest.mark.parametrize(
    ("fakes", "chosen"),
    [
        # The first of the search path where no other is worth it.
        ({"a/python3": "echo 3 11 0.100 $0", "b/python3": "echo 3 11 0.098 $0"}, "a/python3"),
        ({"a/python3": "echo 3 11 0.100 $0", "b/python3": "echo 3 11 0.070 $0"}, "b/python3"),
        (
            {"a/python3.11": "echo 3 11 0.100 $0", "a/python3.13": "echo 3 13 0.080 $0"},
            "a/python3.13",
        ),
        # Not tested with the lock: only where there is no other.
        ({"a/python3": "echo 3 15 0.010 $0", "b/python3": "echo 3 11 0.100 $0"}, "b/python3"),
        ({"a/python3": "echo 3 15 0.010 $0"}, "a/python3"),
        # One that cannot run shrinker, one that answers something else, one that is not there.
        (
            {
                "a/python3": "exit 1",
                "b/python3": "echo Python 3.11; exit 0",
                "c/python3": "echo 3 11 0.1 $0",
            },
            "c/python3",
        ),
        ({"a/python3": "exit 1"}, None),
        ({"a/other": "echo 3 11 0.100 $0"}, None),
        # A folder of that name.
        ({"a/python3/x": "", "a/python3.11": "echo 3 11 0.100 $0"}, "a/python3.11"),
    ],
)
def test_the_fastest_is_taken(tmp_path: Path, fakes: Fakes, chosen: str | None) -> None:
    assert _chosen(tmp_path, fakes) == chosen


def test_a_manager_s_command_stands_for_what_it_starts(tmp_path: Path) -> None:
    """Its commands are called by other names than the interpreter, which is asked itself from then
    on.
    """
    real = {"real/python3.12": "echo 3 12 0.05 $0"}
    assert (
        _chosen(tmp_path, {"a/python3": f"echo 3 12 0.05 {tmp_path}/real/python3.12"} | real)
        == "real/python3.12"
    )


def test_a_real_interpreter_answers(tmp_path: Path) -> None:
    base = getattr(sys, "_base_executable", sys.executable)
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "python3").symlink_to(base)
    done = subprocess.run(
        [sys.executable, "-I", CHOOSER],
        env={"PATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    asked = [done.stdout.strip(), "-c", "import sys; print(sys.version_info[:2])"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip() == str(
        sys.version_info[:2]
    )
