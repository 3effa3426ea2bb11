"""The shipped profiles, from the widest to the narrowest; and a profile of another family, one file
of rules beside the shipped ones.
"""

import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from shrinker.project import RULES_FOLDER
from shrinker.ruleset.load import load_profile, load_rules
from shrinker.ruleset.models import Api, Remove, Root, Walk
from tests.cli.small import World
from tests.small import python, read_archive, write

PROGRAMS = ("package/operators.toml", "package/checks.toml", "package/environment.toml")
FILES = read_archive(Path(__file__).with_name("miniature.txtar"))
PROFILES = ("deepseek", "deepseek-r1-nvfp4", "deepseek-r1-minimal")

REMOVED_BY = {
    "refuse-reasoning-parsers": ("reasoning-parsers",),
    "refuse-tool-call-parsers": ("tool-call-parsers",),
    "refuse-rope-types": ("rope-types",),
    "refuse-minimal-moe-runners": ("minimal-moe-runners",),
    "refuse-chosen-moe-runners": ("minimal-moe-runners",),
    "refuse-moe-runners-by-name": ("minimal-moe-runners",),
    "refuse-sequence-parallel-norms": ("no-sequence-parallel-norms", "no-sequence-parallel-pass"),
}
"""Refusals in whose words no `remove` rule speaks, and the rules that take away what they refuse.
"""


def test_the_profiles_are_those() -> None:
    assert {path.stem for path in (RULES_FOLDER / "profiles").glob("*.toml")} == {
        *PROFILES,
        "qwen3",
    }


@pytest.mark.parametrize(("wide", "narrow"), list(pairwise(PROFILES)))
def test_a_narrower_profile_has_all_rules_of_the_wider_one(wide: str, narrow: str) -> None:
    before = {rule.id: rule for rule in load_profile(wide).all_rules()}
    after = {rule.id: rule for rule in load_profile(narrow).all_rules()}
    gone = {name: rule for name, rule in before.items() if after.get(name) != rule}
    # A rule that only keeps may go, when the narrower profile removes what it keeps.
    assert all(isinstance(rule, Api | Root | Walk) for rule in gone.values()), gone
    removed = [
        m
        for name, rule in after.items()
        if name not in before and isinstance(rule, Remove)
        for m in rule.modules
    ]
    kept = {m for rule in gone.values() if isinstance(rule, Root) for m in rule.modules}
    kept |= {
        f"{rule.package}.{m}" for rule in gone.values() if isinstance(rule, Walk) for m in rule.keep
    }
    # A program beside the server may stay for what it defines: running it is a named error.
    programs = {
        m
        for path in PROGRAMS
        for rule in load_rules([RULES_FOLDER / path]).roots
        for m in rule.modules
    }
    assert (kept - programs).issubset(removed)
    assert len(after) > len(before)


@pytest.mark.parametrize("profile", PROFILES)
def test_what_is_refused_is_taken_away(profile: str) -> None:
    rules = load_profile(profile)
    features = {rule.feature for rule in rules.removes}
    never = {text for rule in rules.domains for text in rule.never}
    takes = {rule.id for rule in (*rules.removes, *rules.domains, *rules.facts)}
    listed = set()
    for refusal in rules.refusals:
        if refusal.feature in features or (refusal.values and never.issuperset(refusal.values)):
            continue
        listed.add(refusal.id)
        assert takes.issuperset(REMOVED_BY[refusal.id]), refusal.id
    if profile == PROFILES[-1]:
        assert listed == REMOVED_BY.keys(), "an entry that no refusal needs"


SHIPPED = ("platform/cuda", "platform/domains")
OWN = Path(__file__).with_name("llama.toml")
PACKAGE = "python/sglang/srt"


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The miniature upstream, shrunk by the profile."""
    folder = tmp_path_factory.mktemp("llama")
    write(folder / "upstream", FILES)
    included = ", ".join(f'"{name}"' for name in (*SHIPPED, "llama"))
    files = {f"{name}.toml": (RULES_FOLDER / f"{name}.toml").read_text("utf-8") for name in SHIPPED}
    files["llama.toml"] = OWN.read_text("utf-8")
    files["profiles/llama.toml"] = (
        f'description = "Llama on NVIDIA GPUs."\ninclude = [{included}]\n'
    )
    write(folder / "rules", files)
    world = World(folder, profile="llama")
    world.shrink().expect(0)
    return world


def serve(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return python(tree / "python", "-m", "sglang.launch_server", *arguments)


def test_the_tree_keeps_its_family_and_drops_the_other(llama: World) -> None:
    kept = {p.relative_to(llama.out).as_posix() for p in llama.out.rglob("*.py")}
    gone = {path for path in FILES if path.endswith(".py")} - kept
    assert gone == {
        f"{PACKAGE}/configs/deepseek_v2.py",
        f"{PACKAGE}/models/deepseek_v2.py",
        f"{PACKAGE}/layers/latent.py",
        f"{PACKAGE}/layers/attention/mla_backend.py",
        # By the rules of the platform, which leave nothing that asks for it.
        f"{PACKAGE}/utils.py",
        f"{PACKAGE}/layers/attention/ascend_backend.py",
    }
    assert kept - FILES.keys() == {"python/sglang/removed_features.py"}


def test_what_named_the_other_family_goes(llama: World) -> None:
    for path in (
        f"{PACKAGE}/configs/table.py",
        f"{PACKAGE}/layers/attention/__init__.py",
        f"{PACKAGE}/server_args.py",
    ):
        text = (llama.out / path).read_text().lower()
        for word in ("deepseek", "mla", "ascend", "npu"):
            assert word not in text, (path, word)


def test_untouched_files_stay_byte_for_byte(llama: World) -> None:
    for path in (
        f"{PACKAGE}/models/registry.py",
        f"{PACKAGE}/models/llama.py",
        f"{PACKAGE}/configs/llama.py",
    ):
        assert (llama.out / path).read_text() == FILES[path]


def test_the_family_is_served_as_by_upstream(llama: World) -> None:
    for arguments in ((), ("llama", "triton")):
        # Upstream would ask a library for the platform, which a test does not have.
        done = serve(llama.out, *arguments)
        assert (done.returncode, done.stdout) == (0, "llama with triton\n"), done.stderr
    before = serve(llama.upstream, "llama", "triton")
    assert (before.returncode, before.stdout) == (0, "llama with triton\n"), before.stderr


def test_the_other_family_is_refused(llama: World) -> None:
    code = read_archive(Path(__file__).with_name("other_family.txtar"))["main.py"]
    done = python(llama.out / "python", "-c", code)
    assert done.returncode != 0
    for word in ("models other than Llama", "refuse-architectures", "Serve a Llama model"):
        assert word in done.stderr
    assert "StopIteration" not in done.stderr and "ImportError" not in done.stderr
