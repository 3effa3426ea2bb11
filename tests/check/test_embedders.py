"""What programs outside use: upstream, with a mark at what is gone of it, a program, and what is
found.
"""

import re
import zipfile
from pathlib import Path

import pytest

from shrinker.cache import Cache
from shrinker.check.embedders import Read, verify_embedders
from shrinker.check.embedders.uses import uses_of_file
from shrinker.check.trees import Trees
from shrinker.ruleset import Ruleset
from shrinker.ruleset.models import Dropped, Remove
from shrinker.source import open_upstream
from shrinker.source.cache import default_folder
from shrinker.source.pins import load_pins
from shrinker.source.wheels import load_wheels, open_wheel
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import EmittedFile, LevelResult
from tests.check.trees import Build, Case, manifest_of
from tests.small import read_archive, read_cases

HERE = Path(__file__).parent
PASS = read_cases(HERE / "kept_uses.txtar")

FAIL = read_cases(HERE / "lost_uses.txtar")


def judged(
    case: Case, program: str, rules: Ruleset | None = None, cache: Cache | None = None
) -> LevelResult:
    wheel = case.out.parent / "embedder-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("embedder/main.py", program)
        archive.writestr("embedder/template.py", "import sglang.{{ name }}\n")
    read = Read("embedder", program, wheel)
    return verify_embedders(case.trees(rules, cache=cache), [read], [])


def said(result: LevelResult) -> list[str]:
    return [
        f"{f.check} {f.message.split('upstream has ')[-1].split(',')[0]}"
        for f in result.evidence.findings
    ]


@pytest.mark.parametrize("name", PASS)
def test_passes(case: Build, name: str) -> None:
    upstream = {**PASS[name]}
    program = upstream.pop("program")
    assert said(judged(case(upstream), program)) == []


@pytest.mark.parametrize("name", FAIL)
def test_fails(case: Build, name: str) -> None:
    upstream = {**FAIL[name]}
    program, expected = upstream.pop("program"), upstream.pop("said").strip()
    result = judged(case(upstream), program)
    assert ", ".join(said(result)) == expected
    assert (
        not result.passed and result.evidence.findings[0].path == "embedder-1.0: embedder/main.py"
    )
    # The same program passes where nothing was lost.
    assert said(judged(case(upstream, upstream), program)) == []


@pytest.mark.parametrize(
    "removed",
    [
        {"modules": ("sglang.gone",)},
        {"definitions": ("sglang.**.gone.f",)},
        {"paths": ("python/sglang/gone.py",)},
    ],
)
def test_what_a_rule_removes_is_named(case: Build, removed: dict[str, tuple[str, ...]]) -> None:
    row = {"id": "remove-it", "why": "Not part of this profile.", "feature": "it", **removed}
    rule = Remove.model_validate(row)
    rules = Ruleset(removes=(rule,), digest="1")
    here = case({"gone.py": "f = 1\n", "a.py": "from sglang.gone import f\n"}, {"a.py": "x = 1\n"})
    result = judged(here, "from sglang.gone import f\nfrom sglang.a import f as g\n", rules)
    assert result.passed
    assert "sglang.gone.f (remove-it)" in dict(result.figures)["embedder-1.0"]
    other = Ruleset(
        removes=(
            rule.model_copy(update={"modules": ("sglang.b",), "definitions": (), "paths": ()}),
        )
    )
    assert len(judged(here, "from sglang.gone import f\n", other).evidence.findings) == 1


def test_what_the_tree_answers_for_is_not_missed(case: Build) -> None:
    """It has the value of one name and one member in a table, and another module has the third."""
    program = "from sglang.a import _flag, f\nfrom sglang.a import C\nC.is_it\nC().of_it_all\n"
    upstream = {
        "a.py": (
            "from sglang.b import f\n_flag = False\nclass C:\n    is_it = 1\n    of_it_all = 2\n"
        ),
        "b.py": "f = 1\n",
    }
    left = {"a.py": "class C:\n    pass\n"}
    assert len(judged(case(upstream, left), program).evidence.findings) == 4
    table = "VALUES = (\n    (False, 'sglang.a: _flag C.is_it C.of_it_all= '),\n)\n"
    table += "HANDED = (\n    ('sglang.b', 'sglang.a: f '),\n)\n"
    here = case(upstream, {**left, "removed_features.py": table})
    assert said(judged(here, program)) == []


def test_what_speaks_of_something_dropped_is_not_missed(case: Build) -> None:
    words = Dropped(id="dropped-npu", why="Not part of this profile.", words=("npu",))
    here = case({"a.py": "class C:\n    def on_npu(self): ...\n"}, {"a.py": "class C:\n    pass\n"})
    program = "from sglang.a import C\nC.on_npu\n"
    result = judged(here, program, Ruleset(dropped=(words,), digest="1"))
    assert result.passed and "on_npu (dropped-npu)" in dict(result.figures)["embedder-1.0"]
    assert not judged(here, program, Ruleset(digest="1")).passed


def test_what_is_required_must_load(case: Build) -> None:
    """A rule may take what embedders use, but not what the tree itself installs and cannot load
    without it.
    """
    rule = Remove(
        id="remove-it", why="Not part of this profile.", feature="it", modules=("sglang.gone",)
    )
    rules = Ruleset(removes=(rule,), digest="1")
    requires = '[project]\nname = "sglang"\ndependencies = ["Embedder >= 1"]\n'
    here = case(
        {"gone.py": "f = 1\n", "//python/pyproject.toml": requires},
        {"//python/pyproject.toml": "="},
    )
    assert (
        "cannot be loaded"
        in judged(here, "from sglang.gone import f\n", rules).evidence.findings[0].message
    )
    for late in (
        "def h():\n    from sglang.gone import f\n",
        "try:\n    import sglang.gone\nexcept ImportError:\n    pass\n",
    ):
        assert judged(here, late, rules).passed


def test_without_a_wheel_nothing_is_shown(case: Build) -> None:
    here = case({"a.py": "f = 1\n"}, {"a.py": "="})
    result = verify_embedders(here.trees(), [], ["embedder"])
    assert not result.ran and result.limits == ("what embedder uses: its wheel is not here",)


def test_an_answer_is_kept_for_the_same_trees_only(case: Build, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    here = case({"a.py": "f = 1\ng = 2\n"}, {"a.py": "="})
    program = "from sglang.a import f\n"
    assert judged(here, program, cache=cache).passed
    (here.out / "python/sglang/a.py").write_text("g = 2\n")
    here.manifest = manifest_of(here.tree, here.out)
    assert not judged(here, program, cache=cache).passed


def test_what_is_asked_at_load() -> None:
    source = read_archive(HERE / "loading.txtar")["main.py"].encode()
    assert [use.module[-1] for use in uses_of_file(source, "x.py") if use.at_load] == [
        "a",
        "c",
        "d",
        "f",
        "g",
    ]


@pytest.mark.network
def test_the_servicer_of_the_real_release(tmp_path: Path) -> None:
    """Upstream passes as its own generated tree; without one file that its servicer loads it does
    not.
    """
    repository = Path(__file__).resolve().parents[2]
    tree = open_upstream(load_pins(repository).default_spec, repository=repository)
    pins = [pin for pin in load_wheels(repository) if pin.name == "smg-grpc-servicer"]
    reads = [
        Read(pin.name, pin.sha256, open_wheel(pin, default_folder(), lambda line: None))
        for pin in pins
    ]
    # What draws pictures, and the models, half of all files: a servicer that loaded one of them
    # would be found.
    asked = [
        file for file in tree.files if not re.search("/multimodal_gen/|/srt/models/", file.path)
    ]
    files = [EmittedFile(file.path, file.sha256, 1, 1, False, None) for file in asked]

    cache = Cache(tmp_path)

    def found(kept: list[EmittedFile]) -> LevelResult:
        manifest = Manifest("0", "deepseek", "0" * 64, tree.identity, tuple(kept))
        return verify_embedders(Trees(tree, tree.root, manifest, cache=cache), reads, [])

    whole = found(files)
    assert whole.evidence.findings == () and dict(whole.evidence.checks)["imports"] > len(pins)
    less = found([file for file in files if not file.path.endswith("/managers/io_struct.py")])
    assert any(
        "sglang.srt.managers.io_struct" in finding.message for finding in less.evidence.findings
    )
