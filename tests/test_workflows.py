"""Workflows: nothing but make targets, actions by hash, no permission that is not named.

The tools of `make lint` and `make workflows` see the rest.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.small import git

REPOSITORY = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((REPOSITORY / ".github/workflows").glob("*.yml"))
TARGETS = set(re.findall(r"(?m)^([a-z-]+):", (REPOSITORY / "Makefile").read_text()))


@pytest.fixture(params=WORKFLOWS, ids=lambda path: path.stem)
def text(request: pytest.FixtureRequest) -> str:
    path: Path = request.param
    return path.read_text()


def test_there_are_workflows() -> None:
    assert {path.stem for path in WORKFLOWS} == {"bump", "review", "test"}


def test_every_step_is_a_make_target(text: str) -> None:
    steps = re.findall(r"(?m)^\s+(?:- )?run: (.*)$", text)
    assert steps and all(re.fullmatch(r"make [a-z-]+", step) for step in steps)
    assert {step.split()[1] for step in steps} <= TARGETS


def test_every_action_has_its_hash_and_says_its_version(text: str) -> None:
    uses = re.findall(r"uses: (.*)", text)
    assert uses and all(
        re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", row) for row in uses
    )


def test_permissions_are_none_but_those_of_a_job(text: str) -> None:
    assert re.search(r"(?m)^permissions: \{\}$", text)
    granted = set(re.findall(r"(?m)^      ([a-z-]+: (?:write|read))$", text))
    assert granted <= {"contents: read", "contents: write", "pull-requests: write"}
    # The App's token may no more than that, too: without these lines it may all that the App may.
    apps = text.count("actions/create-github-app-token@")
    assert (
        text.count("permission-contents: write")
        == text.count("permission-pull-requests: write")
        == apps
    )
    assert len(re.findall(r"permission-", text)) == 2 * apps
    assert "write-all" not in text and "pull_request_target" not in text
    assert text.count("persist-credentials: false") == text.count("actions/checkout@")


def test_only_a_job_that_runs_the_base_may_write_to_a_pull_request() -> None:
    text = (REPOSITORY / ".github/workflows/review.yml").read_text()
    tree, comment = text.split("\n  comment:\n")
    assert "write" not in tree.partition("jobs:")[2].split("# Apart")[0]
    assert "ref: ${{ github.event.pull_request.base.sha }}" in comment


def test_changes_are_tested() -> None:
    text = (REPOSITORY / ".github/workflows/test.yml").read_text()
    assert re.search(r"(?m)^  pull_request:$", text) and re.search(r"(?m)^  push:$", text)
    assert "run: make test\n" in text and "write" not in text


def test_environments_are_kept_by_what_they_are_made_of(text: str) -> None:
    """A file that a key names and that is not there counts for nothing: the key would never
    change.
    """
    keys = re.findall(r"key: (.*)", text)
    assert any(key.startswith("environment-") and "'uv.lock'" in key for key in keys)
    assert any(key.startswith("shrinker-") and "'shrinker/**'" in key for key in keys)
    for pattern in re.findall(r"'([^']+)'", "".join(re.findall(r"hashFiles\((.*?)\)", text))):
        assert any(REPOSITORY.glob(pattern)), pattern


def test_a_request_is_opened_by_an_app_where_there_is_one() -> None:
    """Requests of the workflow's own token start no checks.

    The token is made after the long part: it lasts an hour.
    """
    text = (REPOSITORY / ".github/workflows/bump.yml").read_text()
    assert (
        text.index("run: make bump")
        < text.index("create-github-app-token@")
        < text.index("run: make propose")
    )
    assert "GH_TOKEN: ${{ steps.app.outputs.token || github.token }}" in text
    page = " ".join((REPOSITORY / "docs/workflows.md").read_text().split())
    for word in ("BUMP_APP_CLIENT_ID", "BUMP_APP_PRIVATE_KEY"):
        assert word in text and word in page
    assert "Allow GitHub Actions to create and approve pull requests" in page


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a remote, and a `gh` that writes down what it is asked."""
    root = tmp_path / "checkout"
    (root / ".ci").mkdir(parents=True)
    (root / "reports").mkdir()
    (tmp_path / "bin").mkdir()
    gh = tmp_path / "bin/gh"
    # `pr list` answers what jq would make of GitHub's answer.
    gh.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\ncase "$1 $2 $3" in\n'
        '"pr create "*) echo https://forge/pull/9; exit ${CREATE:-0} ;;\n'
        f'"pr list --head") cat {tmp_path}/of-head 2>&- ;;\n'
        f'"pr list --base") cat {tmp_path}/of-base 2>&- ;;\nesac\ntrue\n'
    )
    gh.chmod(0o755)
    shutil.copy(REPOSITORY / ".ci/propose", root / ".ci")
    for name in ("shrinker/upstream.toml", "README.md", "reports/lock.json"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text('default_release = "1.0"\n')
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "First")
    git(root, "remote", "add", "origin", str(tmp_path / "remote.git"))
    return root


def _propose(checkout: Path, code: int = 0, **more: str) -> str:
    path = f"{checkout.parent / 'bin'}:{os.environ['PATH']}"
    variables = {"PATH": path, "SUMMARY": "summary.md", "HOME": str(checkout.parent)} | more
    words = ["sh", str(checkout / ".ci/propose")]
    done = subprocess.run(words, cwd=checkout.parent, env=variables, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def _moved(checkout: Path, commit: str = "a" * 40) -> str:
    """Move the pin as a bump does; the branch that is to hold it."""
    git(checkout, "switch", "-q", "main")
    (checkout / "shrinker/upstream.toml").write_text(
        f'default_release = "1.0"\ndefault_commit = "{commit}"\n'
    )
    return f"bump/{commit[:12]}"


def _asked(checkout: Path) -> list[str]:
    return (checkout.parent / "asked").read_text().splitlines()


def test_a_bump_is_proposed_once(checkout: Path) -> None:
    assert "newest already" in _propose(checkout)
    (checkout / "shrinker/upstream.toml").write_text(
        f'default_release = "1.0"\ndefault_commit = "{"a" * 40}"\n'
    )
    (checkout / "reports/new.json").write_text("{}\n")
    (checkout / "scratch.txt").write_text("not mine to commit\n")
    _propose(checkout)
    remote = checkout.parent / "remote.git"
    branch = f"bump/{'a' * 12}"
    changed = git(remote, "show", "--name-only", "--format=%s", branch).split()
    assert changed == ["Upstream", "a" * 12, "reports/new.json", "shrinker/upstream.toml"]
    asked = (checkout.parent / "asked").read_text()
    assert (
        f"pr create --base main --head {branch} --title Upstream {'a' * 12} --body-file summary.md"
        in asked
    )
    before = git(remote, "rev-parse", branch)
    _moved(checkout)
    (checkout.parent / "of-head").write_text("9\n")
    (checkout.parent / "asked").unlink()
    assert "is there already" in _propose(checkout)
    assert git(remote, "rev-parse", branch) == before
    assert [row for row in _asked(checkout) if not row.startswith("pr list")] == [], (
        "one that was closed stays closed"
    )


def test_a_branch_without_a_request_gets_one(checkout: Path) -> None:
    """The setting of the repository was missing: the push went through, and the request did not."""
    branch = _moved(checkout)
    failed = _propose(checkout, 2, CREATE="1")
    assert (
        "next: allow it" in failed
        and "Allow GitHub Actions to create and approve pull requests" in failed
    )
    assert not any(row.startswith(("pr close", "pr list --base")) for row in _asked(checkout)), (
        "nothing supersedes yet"
    )
    _moved(checkout)
    assert "https://forge/pull/9" in _propose(checkout)
    assert (
        sum(row.startswith(f"pr create --base main --head {branch}") for row in _asked(checkout))
        == 2
    )


def test_earlier_requests_are_closed_but_for_somebodys_work(checkout: Path) -> None:
    branch = _moved(checkout)
    (checkout.parent / "of-base").write_text(
        f"9 {branch} 1\n7 bump/{'b' * 12} 1\n5 bump/0.5.14 2\n"
    )
    said = _propose(checkout)
    closed = [row for row in _asked(checkout) if row.startswith("pr close")]
    assert closed == ["pr close 7 --delete-branch --comment Superseded by https://forge/pull/9"]
    assert "bump/0.5.14 stays open" in said


def test_a_request_says_that_nothing_checks_it(checkout: Path) -> None:
    _moved(checkout)
    assert "::warning::" in _propose(checkout, TOKEN_OF="workflow")
    assert any(
        row.startswith("pr comment https://forge/pull/9 --body Opened with")
        for row in _asked(checkout)
    )
    _moved(checkout, "c" * 40)
    (checkout.parent / "asked").unlink()
    assert "::warning::" not in _propose(checkout, TOKEN_OF="app")
    assert not any(row.startswith("pr comment") for row in _asked(checkout))


def test_the_base_is_generated_by_its_own_checkout(checkout: Path) -> None:
    shutil.copy(REPOSITORY / ".ci/base-tree", checkout / ".ci")
    (checkout / "Makefile").write_text(
        "shrink:\n\tmkdir -p '$(OUT)' && git rev-parse HEAD > '$(OUT)/made-by'\n"
    )
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "Base")
    base = git(checkout, "rev-parse", "HEAD")
    (checkout / "Makefile").write_text("shrink:\n\tfalse\n")
    git(checkout, "commit", "-qam", "The change")
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(checkout.parent),
        "BASE": base,
        "OUT": "dist/base",
    }
    words = ["sh", str(checkout / ".ci/base-tree")]
    done = subprocess.run(words, cwd=checkout.parent, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (checkout / "dist/base/made-by").read_text().strip() == base
    assert len(git(checkout, "worktree", "list").splitlines()) == 1, "its checkout is gone"
    failed = subprocess.run(
        words, cwd=checkout, env=variables | {"BASE": "HEAD"}, capture_output=True, text=True
    )
    assert failed.returncode != 0 and len(git(checkout, "worktree", "list").splitlines()) == 1


def test_the_page_goes_into_one_comment(checkout: Path) -> None:
    shutil.copy(REPOSITORY / ".ci/comment", checkout / ".ci")
    variables = {
        "PATH": f"{checkout.parent / 'bin'}:{os.environ['PATH']}",
        "NUMBER": "7",
        "PAGES": "dist/review",
    }
    subprocess.run(["sh", str(checkout / ".ci/comment")], cwd=checkout, env=variables, check=True)
    asked = (checkout.parent / "asked").read_text().strip()
    assert asked == "pr comment 7 --body-file dist/review/diff.md --edit-last --create-if-none"
