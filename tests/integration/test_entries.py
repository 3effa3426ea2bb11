"""Claims of the rules about the default release: all are enforced, and wrong ones, planted one at a
time, are noticed.
"""

from collections.abc import Callable
from typing import Any

import pytest

from shrinker.cache import Cache
from shrinker.check.entries import judge_entries
from shrinker.check.trees import Trees
from shrinker.ruleset import load_profile, with_rule
from shrinker.ruleset.models import Fact
from shrinker.values.interface import GONE, KEPT, Entries
from tests.integration.shrunk import Shrunk
from tools.mutation.wrong_rules import ALWAYS, ATTRIBUTE, DOMAIN, PREDICATE, draw

pytestmark = pytest.mark.network
SEED = 28


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    """Starts empty; what does not depend on the rules is computed once for all tests."""
    return Cache(tmp_path_factory.mktemp("cache"))


def _judge(shrunk: Shrunk, cache: Cache) -> Callable[..., Entries]:
    """`judge(table, row)`: with one rule more than the profile has."""
    rules = load_profile(shrunk.profile)

    def run(table: str = "", row: dict[str, Any] | None = None) -> Entries:
        asked = with_rule(rules, table, row) if row is not None else rules
        return judge_entries(Trees(shrunk.upstream, shrunk.out, shrunk.manifest, asked, 2, cache))

    return run


@pytest.fixture(scope="module", params=["newest", "narrower"])
def judge(request: pytest.FixtureRequest, cache: Cache) -> Callable[..., Entries]:
    return _judge(request.getfixturevalue(request.param), cache)


def test_the_rules_are_enforced(judge: Callable[..., Entries]) -> None:
    found = judge()
    assert found.findings == ()
    assert all(claim.enters for claim in found.claims)
    effects = {each.flag: each for each in found.flags}
    assert effects["enable_hierarchical_cache"].effect == KEPT
    assert (effects["kt_weight_path"].effect, effects["kt_weight_path"].rule) == (
        GONE,
        "refuse-ktransformers",
    )


def test_wrong_rules_about_flags(newest: Shrunk, cache: Cache) -> None:
    """Attributes and texts that are flags, and predicates that are made of one."""
    judge = _judge(newest, cache)
    right = judge()
    flags = {each.flag for each in right.flags}
    known = {
        p
        for rule in load_profile("deepseek").facts
        if isinstance(rule, Fact)
        for p in rule.attributes
    }
    drawn = [
        one
        for one in draw(newest.upstream, newest.out, newest.manifest, count=250, seed=SEED)
        if one.subject not in known
    ]
    planted = [one for one in drawn if one.kind == ATTRIBUTE and one.subject[1:] in flags]
    planted += [
        one for one in drawn if one.kind == DOMAIN and one.subject.partition(":")[0] in flags
    ]
    planted += [one for one in ALWAYS if one.kind in (ATTRIBUTE, PREDICATE)]
    assert len(planted) > 10
    missed: list[str] = []
    for one in planted:
        found = judge(one.table, one.data())
        if not any(
            f.check == "unenforced" and f.message.startswith(one.id) for f in found.findings
        ):
            enters = next(claim.enters for claim in found.claims if claim.rule == one.id)
            # Texts that the flag does not take, flags without effect and refused ones: such a rule
            # takes nothing away.
            if not any(
                word in text
                for text in enters
                for word in ("takes none", "without effect", "(refused by")
            ):
                missed.append(f"{one.kind}: {one.subject}")
    assert missed == []


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("facts", {"calls": (".is_deepep",), "value": False}),
        ("facts", {"attributes": (".enable_hierarchical_cache",), "value": False}),
        ("facts", {"attributes": (".enable_eplb",), "value": False}),
        ("facts", {"calls": ("sglang.**.is_sm100_supported",), "value": False}),
        ("facts", {"environment": ("SGLANG_ENABLE_JIT_DEEPGEMM",), "value": False}),
        (
            "domains",
            {"names": ("sglang.**.disaggregation_transfer_backend",), "never": ("mooncake",)},
        ),
        ("domains", {"tables": ("sglang.**.BASE_QUANTIZATION_METHODS",), "never": ("fp8",)}),
        ("domains", {"names": ("sglang.**.architectures",), "never": ("DeepseekV3ForCausalLM",)}),
    ],
    ids=lambda value: str(next(iter(value.values()))) if isinstance(value, dict) else value,
)
def test_a_wrong_rule(judge: Callable[..., Entries], table: str, row: dict[str, Any]) -> None:
    data = {"id": "wrong", "why": "A rule that is not true.", **row}
    assert {f.message.partition(":")[0] for f in judge(table, data).findings} == {"wrong"}
