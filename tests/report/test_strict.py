"""What strict mode refuses, and what it leaves alone."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from shrinker.report.effects import RuleEffect, occurring
from shrinker.report.strict import strict_findings
from shrinker.ruleset import Absent, Fact, Leftover, Remove, Ruleset
from shrinker.ruleset.load import load_rules
from shrinker.ruleset.models import Refusal
from shrinker.source.declared import UNDECLARED
from shrinker.values.folded import FoldedModule, Uncertain
from shrinker.values.leftovers import Leftover as Found
from shrinker.values.leftovers import Leftovers, Suspect
from shrinker.values.outcome import Finding
from shrinker.values.upstream import Identity, UpstreamTree
from tests.program.small_tree import write_tree

WHY = "A rule of a test."
PATH = "python/sglang/srt/a.py"
FACT = Fact(
    id="npu",
    why=WHY,
    calls=("sglang.**.is_npu", ".is_aiter"),
    names=("torch.version.hip",),
    value=False,
)
RULES = Ruleset(facts=(FACT,), places={"npu": "world.toml:7", "idle": "world.toml:9"})
TREE = UpstreamTree(Identity("path", "path", None, None, False), Path(), (), UNDECLARED)
NOTHING = Leftovers(1, (), (), ())


def found(kind: str, text: str, position: str = "test", line: int = 3, **more: Any) -> Found:
    return Found(kind, PATH, line, text, "sglang.srt.a.f", position, **more)  # type: ignore[arg-type]


def left(
    *leftovers: Found, suspects: tuple[Suspect, ...] = (), unmatched: tuple[str, ...] = ()
) -> Leftovers:
    return Leftovers(1, leftovers, suspects, unmatched)


def effect(rule: str, decisions: int) -> RuleEffect:
    return RuleEffect(rule, "fact", WHY, decisions, 0, 0, 0, 0)


def refused(
    leftovers: Leftovers = NOTHING, rules: Ruleset = RULES, undecided: str = "", **more: Any
) -> list[Finding]:
    uncertain = (Uncertain(PATH, 1, undecided),) if undecided else ()
    module = FoldedModule(PATH, "sglang.srt.a", False, (), "", (), (), (), (), (), uncertain)
    asked = {"tree": TREE, "effects": [], "missing_roots": [], **more}
    return strict_findings(rules=rules, folded={PATH: module}, left=leftovers, **asked)


def proposed(finding: Finding) -> dict[str, Any]:
    """The last rule that a finding proposes."""
    start = finding.message.rindex("[[")
    return tomllib.loads("\n".join(row.strip() for row in finding.message[start:].splitlines()))


def test_nothing_is_refused() -> None:
    # What has its reason, what strict mode leaves to `shrinker leftovers`, and what folding may
    # leave behind.
    alone = (
        found("predicates", "is_hip()", rule="reason"),
        found("strings", "npu"),
        found("names", "torch.npu.x()"),
    )
    assert refused(left(*alone), effects=[effect("npu", 1)]) == []
    optional = FACT.model_copy(update={"optional": True})
    assert (
        refused(
            NOTHING,
            Ruleset(facts=(optional,)),
            effects=[effect("npu", 0)],
            missing_roots=[("npu", "x")],
        )
        == []
    )


def test_a_rule_without_a_match_and_a_root_that_is_not_there() -> None:
    by_effect, by_leftover = refused(left(unmatched=("idle",)), effects=[effect("npu", 0)])
    assert (by_effect.check, by_effect.path, by_effect.line) == ("unmatched-rule", "world.toml", 7)
    assert (by_leftover.check, by_leftover.path, by_leftover.line) == (
        "unmatched-rule",
        "world.toml",
        9,
    )
    [root] = refused(missing_roots=[("npu", "sglang.gone")])
    assert (root.check, root.path) == (
        "missing-root",
        "sglang.gone",
    ) and "world.toml:7" in root.message


@pytest.mark.parametrize(
    ("leftover", "check", "rule"),
    [
        (
            found("predicates", "is_hip()"),
            "unnamed-predicate",
            {"calls": ["sglang.**.is_hip"], "value": False},
        ),
        (
            found("predicates", "….is_musa()"),
            "unnamed-predicate",
            {"calls": [".is_musa"], "value": False},
        ),
        (
            found("predicates", "x.is_musa"),
            "unnamed-predicate",
            {"attributes": [".is_musa"], "value": False},
        ),
        (found("predicates", "is_hip()", "call"), "leftover", {"calls": ["sglang.**.is_hip"]}),
        (
            found("predicates", "is_npu()"),
            "undecided-fact",
            {"words": ["is_npu()"], "where": ["sglang.srt.a.f"]},
        ),
        (
            found("predicates", "x.is_aiter()"),
            "undecided-fact",
            {"in": ["test"], "kind": ["predicates"]},
        ),
        (
            found("predicates", "torch.version.hip"),
            "undecided-fact",
            {"words": ["torch.version.hip"]},
        ),
        (
            found("flags", "_use_npu"),
            "leftover",
            {"names": ["sglang.srt.a._use_npu"], "value": False},
        ),
        (found("flags", "self.use_npu"), "leftover", {"attributes": [".use_npu"]}),
        (found("environment", "envs.SGLANG_NPU.get()"), "leftover", {"environment": ["get"]}),
        (
            found("environment", "SGLANG_NPU_X", "key"),
            "leftover",
            {"environment": ["SGLANG_NPU_X"]},
        ),
        (
            found("absent imports", "aiter.ops", "import"),
            "leftover",
            {"words": ["aiter.ops"], "in": ["import"]},
        ),
    ],
)
def test_leftovers(leftover: Found, check: str, rule: dict[str, Any]) -> None:
    [finding] = refused(left(leftover))
    assert (finding.check, finding.path, finding.line) == (check, PATH, 3)
    [[table]] = proposed(finding).values()
    assert table.items() >= rule.items()


def test_one_finding_a_name_with_its_sites() -> None:
    sites = [
        found("predicates", "is_hip", "import", line=1),
        found("predicates", "is_hip()", line=9),
    ]
    sites += [found("predicates", "is_hip()", "call", line=n) for n in range(10, 17)]
    [finding] = refused(left(*sites))
    # The condition first: that is where a person looks.
    assert (finding.check, finding.line) == ("unnamed-predicate", 9)
    assert f"{PATH}:1, {PATH}:9" in finding.message and "and 4 more" in finding.message


def test_a_suspect() -> None:
    suspect = Suspect("is_new", "sglang.utils", ("is_hip", "is_npu"), ((PATH, 4), (PATH, 8)))
    [finding] = refused(left(suspects=(suspect,)))
    assert (finding.check, finding.path, finding.line) == ("unnamed-predicate", PATH, 4)
    assert 'calls = ["sglang.**.is_new"]' in finding.message and f"{PATH}:8" in finding.message
    assert proposed(finding)["platform"][0] == {
        "id": "words-is-new",
        "why": "Say why: what makes this so on every NVIDIA machine?",
        "words": ["new"],
        "own": True,
    }


def test_a_construct_that_folding_does_not_understand() -> None:
    [finding] = refused(undecided="the handler uses the exception")
    assert (finding.check, finding.path, finding.line) == ("unsupported-construct", PATH, 1)
    assert "the handler uses the exception" in finding.message
    accepted = Leftover.model_validate(proposed(finding)["leftover"][0])
    rules = RULES.model_copy(update={"leftovers": (accepted,)})
    assert refused(rules=rules, undecided="the handler uses the exception") == []
    # Nothing to accept any more: the rule is one without a match.
    assert [f.check for f in refused(rules=rules)] == ["unmatched-rule"]


def test_every_proposal_loads(tmp_path: Any) -> None:
    kinds = ("predicates", "flags", "environment", "absent imports")
    leftovers = [
        found(kind, text, line=n)
        for n, kind in enumerate(kinds)
        for text in ("A_NPU", "x.is_hip()", "…./a b")
    ]
    suspect = Suspect("is_supported", "sglang.utils", ("is_hip",), ((PATH, 4),))
    findings = refused(left(*leftovers, suspects=(suspect,)), undecided="why")
    assert len(findings) == 14
    for number, finding in enumerate(findings):
        path = tmp_path / f"{number}.toml"
        path.write_text(
            "\n".join(
                row.strip() for row in finding.message[finding.message.rindex("[[") :].splitlines()
            )
        )
        load_rules([path])


def test_a_rule_has_its_match_wherever_upstream_writes_the_name(tmp_path: Path) -> None:
    files = {
        "gone/npu.py": "from other import thing\nif thing.is_npu():\n    import torch_npu\n",
        "kernels/mlapo.py": "def is_enabled(): pass\n",
        "text.txt": "is_hpu\n",
    }
    rules = Ruleset(
        facts=(
            Fact(id="method", why=WHY, calls=(".is_npu",), value=False),
            Fact(id="nested", why=WHY, calls=("sglang.**.mlapo.is_enabled",), value=False),
            Fact(id="open", why=WHY, calls=("sglang.**.mlapo.is_*",), value=False),
            # Not there: no such word, a word of a text that is no Python, a module of another name,
            # half a word.
            Fact(id="no-word", why=WHY, calls=("sglang.**.is_xpu",), value=False),
            Fact(id="no-python", why=WHY, calls=(".is_hpu",), value=False),
            Fact(id="no-module", why=WHY, calls=("sglang.**.other_name.is_enabled",), value=False),
            Fact(id="half", why=WHY, attributes=(".is_np",), value=False),
        ),
        absents=(
            Absent(id="absent", why=WHY, modules=("torch_npu",)),
            Absent(id="no-absent", why=WHY, modules=("torch_hpu",)),
        ),
        leftovers=(
            Leftover.model_validate({"id": "text", "why": WHY, "words": ["no_such", "*.is_npu"]}),
            Leftover.model_validate({"id": "no-text", "why": WHY, "words": ["is_hpu"]}),
        ),
        removes=(Remove(id="remove", why=WHY, feature="NPU", modules=("sglang.gone.npu",)),),
    )
    tree = write_tree(tmp_path, files)
    assert occurring(tree, (*rules.all_rules(), *rules.leftovers)) == {
        "method",
        "nested",
        "open",
        "absent",
        "text",
    }
    idle = [effect(rule, 0) for rule in ("method", "no-word")]
    found = refused(left(unmatched=("text", "no-text")), rules, effects=idle, tree=tree)
    assert [f.message.split()[1] for f in found] == ["no-word", "no-text"]


def test_a_refusal_needs_no_place_where_its_module_is_removed(tmp_path: Path) -> None:
    tree = write_tree(tmp_path, {"srt/gone.py": "def choose(name):\n    return name\n"})
    asked = Refusal(
        id="refuse",
        why=WHY,
        feature="a choice",
        function="sglang.srt.gone.choose",
        argument="name",
        attribute="",
        values=("x",),
        instead="Choose another one.",
    )
    remove = Remove(id="remove", why=WHY, feature="choices", modules=("sglang.srt.gone",))
    idle = [effect("refuse", 0)]
    assert (
        refused(NOTHING, Ruleset(refusals=(asked,), removes=(remove,)), effects=idle, tree=tree)
        == []
    )
    # Enforced nowhere: because nothing removes the module, or because upstream has no such
    # function.
    lost = asked.model_copy(update={"function": "sglang.srt.gone.chosen"})
    for rules in (Ruleset(refusals=(asked,)), Ruleset(refusals=(lost,), removes=(remove,))):
        [finding] = refused(NOTHING, rules, effects=idle, tree=tree)
        assert finding.check == "unmatched-rule"
