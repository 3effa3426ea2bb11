"""The pin moves with the tree, the lock and the reports, or nothing does."""

import json
import shutil
from pathlib import Path

import pytest

from shrinker.source.pins import index_commit, load_pins, moved
from shrinker.values.errors import InputError
from shrinker.values.upstream import Identity
from tests.cli.small import FILES, Done, World, small_world
from tests.small import committed, git, read_archive, write

CUDA = "python/sglang/srt/cuda.py"
TOML = read_archive(Path(__file__).with_name("pins.txtar"))["upstream.toml"]


class Checkout:
    """A checkout of shrinker, as far as a bump sees it, and an upstream with three commits."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.root = world.folder / "checkout"
        self.commits: list[str] = []
        write(world.upstream, {".gitattributes": "* text=auto\n"})
        git(world.upstream, "init", "-q", "-b", "main")
        for number in range(3):
            self.commit(
                f"Number {number} (#{number})",
                {CUDA: FILES[CUDA].replace("'cuda'", f"'cuda {number}'")},
            )
        text = TOML.format(url=world.upstream, commit=self.commits[0])
        write(self.root, {"upstream.toml": text.replace("default_release", "default_release")})
        git(self.root, "init", "-q")
        git(self.root, "update-index", "--add", "--cacheinfo", f"160000,{self.commits[0]},upstream")

    def commit(self, subject: str, files: dict[str, str]) -> None:
        self.commits.append(committed(self.world.upstream, files, subject))

    def bump(self, *words: str) -> Done:
        fixed = [
            "--repository",
            str(self.root),
            "--rules",
            str(self.world.rules),
            "--profile",
            "small",
            "--jobs",
            "1",
        ]
        return self.world.run(["bump", *words, *fixed])

    def state(self) -> dict[str, bytes]:
        """Everything that a bump may touch, hidden leftovers included; `run.json` holds times."""
        files = {
            p
            for p in self.root.rglob("*")
            if p.is_file() and ".git" not in p.relative_to(self.root).parts
        }
        found = {
            p.relative_to(self.root).as_posix(): p.read_bytes()
            for p in files
            if p.name != "run.json"
        }
        return found | {"index": (index_commit(self.root, "upstream") or "").encode()}


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    found = Checkout(small_world(tmp_path))
    # The pin is a commit from the first on: there is no index to have a release from.
    text = (found.root / "upstream.toml").read_text()
    (found.root / "upstream.toml").write_text(moved(text, release=None, commit=found.commits[0]))
    return found


def test_a_bump_moves_everything_and_tells_what_changed(checkout: Checkout) -> None:
    summary = checkout.world.folder / "summary.md"
    checkout.bump(
        "--commit", "main", "--summary", str(summary), "--history", str(checkout.world.upstream)
    ).expect(0)
    pins = load_pins(checkout.root)
    assert pins.default_commit == pins.submodule_commit == checkout.commits[2]
    assert index_commit(checkout.root, "upstream") == checkout.commits[2]
    lock = json.loads((checkout.root / "reports/small/shrink.lock.json").read_text())
    assert lock["upstream"]["commit"] == checkout.commits[2]
    assert "cuda 2" in (checkout.root / "dist/sglang_small" / CUDA).read_text()
    text = summary.read_text()
    assert "-    return 'cuda 0'\n+    return 'cuda 2'" in text
    assert "| `#2` | Number 2 | 1 |" in text and "| `#1` | Number 1 | 1 |" in text
    assert not [p.name for p in (checkout.root / "dist").iterdir() if p.name.startswith(".")]


def _budget(checkout: Checkout, text: str) -> None:
    checkout.world.add("rules/profiles/small.toml", f"\n[budget]\n{text}\n")


@pytest.mark.parametrize(
    ("budget", "told"),
    [
        ("lines = 10", "lines of Python, of at most 10 (most: python/sglang/srt +"),
        ('forbidden = ["vllm"]', "vllm is forbidden: import added, python/sglang/srt/cuda.py"),
    ],
)
def test_a_tree_over_the_budget_leaves_all_as_it_was(
    checkout: Checkout, budget: str, told: str
) -> None:
    assert checkout.bump("--commit", checkout.commits[1]).code == 0
    _budget(checkout, budget)
    before = checkout.state()
    checkout.commit("Grown", {CUDA: f"import vllm\n\nprint(vllm)\n\n\n{FILES[CUDA]}"})
    summary = checkout.world.folder / "summary.md"
    done = checkout.bump("--commit", checkout.commits[3], "--summary", str(summary))
    assert done.code == 1, done.err
    assert told in done.err and "profiles/small.toml" in done.err
    # What was made can be looked at: the page, the tree and its reports.
    assert (
        "import vllm" in summary.read_text()
        and "not asked, since the bump was refused" in summary.read_text()
    )
    rejected = checkout.root / "dist/sglang_small.rejected"
    assert "import vllm" in (rejected / CUDA).read_text()
    assert (checkout.root / "dist/sglang_small.rejected.reports/keep.txt").is_file()
    for folder in (checkout.root / "dist").glob("*.rejected*"):
        shutil.rmtree(folder)
    assert checkout.state() == before


def test_what_the_tree_before_imported_too_is_within_the_budget(checkout: Checkout) -> None:
    checkout.commit("Imports it", {CUDA: f"import vllm\n\nprint(vllm)\n\n\n{FILES[CUDA]}"})
    assert checkout.bump("--commit", checkout.commits[3]).code == 0
    _budget(checkout, 'forbidden = ["vllm"]\ndistributions = 0\nlines = 100')
    checkout.world.add(f"upstream/{CUDA}", "# more\n")
    checkout.commit("Grown", {})
    checkout.bump("--commit", checkout.commits[4]).expect(0)


def test_the_page_tells_growth_what_is_unknown_and_which_evidence_is_stale(
    checkout: Checkout,
) -> None:
    assert checkout.bump("--commit", checkout.commits[1]).code == 0
    reports = checkout.root / "reports/small"
    (reports / "verify.json").write_text(json.dumps({"tree": "0" * 64, "upstream": "release:0.9"}))
    (reports / "verify.md").write_text("# Evidence\n\nEvery level passed.\n")
    table = (
        "def start():\n    return {name: 1 for name in PLATFORMS}\n\n\nPLATFORMS = ['npu', 'xpu', "
        "'sail']\n"
    )
    checkout.commit("Platforms", {CUDA: table})
    done = checkout.bump("--commit", checkout.commits[3]).expect(0)
    assert "## Lines by folder (1)" in done.out and "| `python/sglang/srt` | +3 |" in done.out
    assert "What the rules do not know of the new upstream" in done.out
    assert "- verify.md: the tree 000000000000 of release:0.9" in done.out
    marked = (reports / "verify.md").read_text()
    assert marked.startswith(
        "# Evidence\n\n> **Stale.** Evidence of the tree 000000000000 of release:0.9"
    )
    assert marked.endswith("\n\nEvery level passed.\n")


def test_a_second_bump_compares_with_the_tree_in_place(checkout: Checkout) -> None:
    assert checkout.bump("--commit", checkout.commits[1]).code == 0
    done = checkout.bump("--commit", checkout.commits[2], "--json").expect(0)
    found = json.loads(done.out)
    assert found["before"].endswith(checkout.commits[1]) and found["after"].endswith(
        checkout.commits[2]
    )
    assert [
        row["path"] for row in found["tables"]["changed"] if row["reason"]["cause"] == "upstream"
    ] == [CUDA]
    assert "generating" not in done.err


def test_a_tree_of_another_upstream_in_place_is_not_the_old_one(checkout: Checkout) -> None:
    assert checkout.bump("--commit", checkout.commits[2]).code == 0
    path = checkout.root / "upstream.toml"
    path.write_text(moved(path.read_text(), release=None, commit=checkout.commits[0]))
    done = checkout.bump("--commit", checkout.commits[1], "--json").expect(0)
    assert json.loads(done.out)["old"]["commit"] == checkout.commits[0]


def test_evidence_that_fails_leaves_all_as_it_was(checkout: Checkout) -> None:
    assert checkout.bump("--commit", checkout.commits[1]).code == 0
    before = checkout.state()
    # A name that nothing defines, which upstream had: evidence `references` holds it against the
    # tree.
    broken = "def start():\n    return LOST\n\n\nif __name__ == 'x':\n    LOST = 1\n"
    checkout.commit("Broken", {CUDA: "def start(:\n", "python/sglang/srt/other.py": broken})
    done = checkout.bump("--commit", checkout.commits[3])
    assert done.code in (1, 2), done.err
    assert checkout.state() == before


@pytest.mark.parametrize(
    "fails", ["shrinker.upgrade.bump.verify_level", "shrinker.upgrade.bump.compare_sides"]
)
def test_what_fails_after_the_tree_was_replaced_is_restored(
    checkout: Checkout, fails: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert checkout.bump("--commit", checkout.commits[1]).code == 0
    before = checkout.state()

    def fail(*arguments: object, **named: object) -> None:
        assert "cuda 2" in (checkout.root / "dist/sglang_small" / CUDA).read_text(), (
            "the new tree is in place by now"
        )
        raise InputError("no more", "stop")

    monkeypatch.setattr(fails, fail)
    done = checkout.bump("--commit", checkout.commits[2])
    assert done.code == 2 and "no more" in done.err
    assert checkout.state() == before


def test_the_first_bump_that_fails_leaves_no_tree(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = checkout.state()

    def fail(*arguments: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("shrinker.upgrade.bump.verify_level", fail)
    assert checkout.bump("--commit", checkout.commits[2]).code == 130
    assert checkout.state() == before


def test_a_commit_that_is_not_there(checkout: Checkout) -> None:
    before = checkout.state()
    for words in (["--commit", "f" * 40], [], ["--release", "9.9"]):
        done = checkout.bump(*words)
        assert done.code == 2 and "next: " in done.err
        assert checkout.state() == before


def test_the_pin_file_keeps_its_comments(tmp_path: Path) -> None:
    text = TOML.format(url="https://example.invalid/x", commit="a" * 40)
    path = tmp_path / "upstream.toml"
    path.write_text(moved(text, release=None, commit="b" * 40))
    pins = load_pins(tmp_path)
    assert (pins.default_commit, pins.submodule_commit) == ("b" * 40, "b" * 40)
    assert pins.default_spec == f"git:https://example.invalid/x@{'b' * 40}"
    assert pins.commit_of == {"1.0": "a" * 40}, "a pair stays true"
    again = moved(path.read_text(), release=None, commit="c" * 40)
    assert again.count("default_commit") == 1
    back = moved(again, release="2.0", commit=None)
    assert "default_commit" not in back and "# What equals what." in back
    path.write_text(back)
    assert load_pins(tmp_path).default_spec == "release:2.0"
    assert (
        moved(moved(text, release="2.0", commit="d" * 40), release="1.0", commit="a" * 40) == text
    )
    with pytest.raises(InputError):
        moved("x = 1\n", release="2.0", commit=None)


def test_whose_reports_the_repository_holds(tmp_path: Path) -> None:
    text = TOML.format(url="u", commit="a" * 40)
    path = tmp_path / "upstream.toml"
    path.write_text(text)
    release = Identity("release", "release:1.0", "1.0", "a" * 40, False)
    commit = Identity("git", f"git@{'a' * 40}", None, "a" * 40, False)
    dirty = Identity("path", "path", None, "a" * 40, True)
    assert [load_pins(tmp_path).is_pinned(x) for x in (release, commit, dirty)] == [
        True,
        False,
        False,
    ]
    path.write_text(moved(text, release=None, commit="a" * 40))
    assert [load_pins(tmp_path).is_pinned(x) for x in (release, commit, dirty)] == [
        False,
        True,
        False,
    ]
