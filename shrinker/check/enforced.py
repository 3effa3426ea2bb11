"""Claims of the rules about what can be set from outside: each needs a refusal over what it says never is, where it comes in.

A claim names a flag, a field of a request, an environment variable, or something else. The first and what enumerations are made of flags
must be refused in the table that the generated tree looks at; variables are refused by their rule. Of anything else the rule says
why nothing sets it (`follows`, `machine`), or its name holds a word of another platform. Nothing here asks what folding decided.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from shrinker.check.entered import Asked
from shrinker.check.outside import Field, Outside
from shrinker.ruleset import Fact, Ruleset
from shrinker.ruleset.models import Domain
from shrinker.values.entries import Judged
from shrinker.values.outcome import Finding

CHECK = "unenforced"
_SWITCH = re.compile(r"EnvBool|.*bool.*", re.IGNORECASE)


def judge_claims(outside: Outside) -> list[Judged]:
    """Every fact and domain of the rules, in their order."""
    rules = outside.rules
    claims: tuple[Fact | Domain, ...] = (*rules.facts, *rules.domains)
    return [_judge(rule, outside) for rule in claims]


def unenforced(judged: Iterable[Judged], rules: Ruleset) -> list[Finding]:
    """What is missing, as findings."""
    found: list[Finding] = []
    for each in judged:
        file, _, line = rules.places.get(each.rule, each.rule).rpartition(":")
        found += [
            Finding(CHECK, file or each.rule, int(line) if line.isdigit() else 0, f"{each.rule}: {text}")
            for text in each.missing
        ]
    return found


def _judge(rule: Fact | Domain, outside: Outside) -> Judged:
    verdicts: list[tuple[str, str]] = []
    patterns = (*rule.calls, *rule.names)
    if isinstance(rule, Fact):
        for name in rule.environment:
            verdicts.append(_variable(name, rule, outside))
        patterns = (*patterns, *rule.attributes)
    else:
        patterns = (*patterns, *rule.lists, *rule.tables, *rule.registers)
    for pattern in patterns:
        verdicts += _pattern(pattern, rule, outside)
    enters = tuple(dict.fromkeys(text for text, missing in verdicts if not missing))
    return Judged(rule.id, enters, tuple(dict.fromkeys(missing for _, missing in verdicts if missing)))


def _variable(name: str, rule: Fact, outside: Outside) -> tuple[str, str]:
    if rule.value:
        return (
            "",
            f"says that the variable {name} is {rule.value!r}, which nothing enforces: only what is off can be refused",
        )
    if outside.foreign.within(name):
        return "environment (refused), another platform", ""
    for how, yes in outside.variables.get(name, ()):
        if yes:
            return "", f"says that the variable {name} is off, which upstream has on where nobody sets it ({how})"
        if rule.value is False and not _SWITCH.fullmatch(how) and how.startswith("Env"):
            return "", (
                f"says that the variable {name} is false, and upstream reads it by {how}: any text counts there. "
                "Leave `value` out: any text is refused then"
            )
    return "environment (refused)", ""


def _pattern(pattern: str, rule: Fact | Domain, outside: Outside) -> Iterator[tuple[str, str]]:
    last = pattern.rpartition(".")[2]
    if last in outside.flags and pattern not in rule.calls:
        yield _flag(pattern, last, rule, outside)
        return
    made = list(outside.made_of(pattern)) if isinstance(rule, Fact) and pattern in rule.calls else []
    if made and not rule.machine:
        for asked, flag in made:
            yield from _enumeration(pattern, asked, flag, rule, outside)
        return
    if outside.foreign.within(last) or (
        isinstance(rule, Domain) and rule.never and all(map(outside.foreign.within, rule.never))
    ):
        yield "another platform", ""
        return
    yield _followed(pattern, rule, outside)


def _followed(pattern: str, rule: Fact | Domain, outside: Outside) -> tuple[str, str]:
    last = pattern.rpartition(".")[2]
    asked = [f"request {field.owner.rpartition('.')[2]}.{last}"] if (field := outside.requests.get(last)) else []
    computed = [*asked, *_computed(pattern, rule, outside)]
    shown = f"{', '.join(computed)}: " if computed else ""
    refusal = next((r.id for r in outside.rules.refusals if isinstance(rule, Domain) and r.domain == rule.id), "")
    refusal = (
        refusal if refusal in outside.placed else outside.refused(last) if asked and isinstance(rule, Fact) else ""
    )
    if refusal:
        return f"{shown}refused by {refusal}", ""
    if rule.machine:
        return f"{shown}the machine", ""
    if not outside.written(pattern):
        return "not in this upstream", ""
    lost = [each for each in rule.follows if not outside.stands(each)]
    if lost:
        return "", f"follows {', '.join(lost)}, which {'is' if len(lost) == 1 else 'are'} not in force in this tree"
    if rule.follows:
        return f"{shown}follows {', '.join(rule.follows)}", ""
    from_what = (
        f"upstream computes it from {', '.join(computed)}" if computed else "it may be set by a checkpoint or a request"
    )
    return "", (
        f"says of `{pattern}` what nothing enforces: {from_what}. Refuse that by a [[reject]], and name it in `follows = [...]` of this rule; "
        "or say `machine = true` where no run can set it"
    )


def _computed(pattern: str, rule: Fact | Domain, outside: Outside) -> list[str]:
    """Flags and variables that upstream computes it from; of a text only flags that list one of these among their choices."""
    found: list[str] = []
    for kind, leaf in sorted(outside.leaves(pattern)):
        field = outside.flags.get(leaf)
        if (
            kind == "flag"
            and field is not None
            and (isinstance(rule, Fact) or not set(rule.never).isdisjoint(field.choices or ()))
        ):
            found.append(f"flag --{leaf.replace('_', '-')}")
        elif kind == "variable" and isinstance(rule, Fact):
            found.append(f"variable {leaf}")
    return found


def _flag(pattern: str, flag: str, rule: Fact | Domain, outside: Outside) -> tuple[str, str]:
    field = outside.flags[flag]
    shown = f"flag --{flag.replace('_', '-')}"
    refusal = outside.refused(flag) if not _truth(rule) else ""
    if refusal:
        return f"{shown} (refused by {refusal})", ""
    if dependent := outside.dependent(flag):
        return f"{shown} (without effect: {dependent})", ""
    if isinstance(rule, Fact):
        return (
            "",
            f"says of `{pattern}` that it is {rule.value}, which the {shown} sets.{_paste(flag, field, 'set = true')}",
        )
    if rule.only:
        used = [r for r in outside.refusals_of(flag) if r.only and set(r.only) <= set(rule.only)]
        if used:
            return f"{shown} (refused by {used[0].id})", ""
        return (
            "",
            f"says of `{pattern}` all that it may be, and the {shown} takes more.{_paste(flag, field, f'domain = {rule.id!r}')}",
        )
    texts = [text for text in rule.never if field.choices is None or text in field.choices]
    lost = [text for text in texts if not outside.refused(flag, text)]
    if lost:
        said = f"says of `{pattern}` that it is never {', '.join(lost)}, which the {shown} takes."
        return "", said + _paste(flag, field, f'domain = "{rule.id}"')
    return f"{shown} ({_refusing(flag, texts, outside)})", ""


def _enumeration(
    pattern: str, asked: Asked, flag: str, rule: Fact | Domain, outside: Outside
) -> Iterator[tuple[str, str]]:
    """A method of what is made of a flag: the texts for which it is true are refused where the flag is looked at."""
    method = pattern.rpartition(".")[2]
    true = set(dict(asked.asks)[method])
    value = _truth(rule)
    field = outside.flags[flag]
    shown = f"flag --{flag.replace('_', '-')}"
    texts = [text for member, text in asked.texts if (member in true) is not value]
    lost = [
        text
        for text in texts
        if (field.choices is None or text in field.choices)
        and not outside.refused(flag, text, asked.any_case)
        and not outside.dependent(flag)
    ]
    if lost:
        case = "\nany_case = true" if asked.any_case else ""
        values = ", ".join(f'"{text}"' for text in lost)
        said = f"says of `{pattern}` what {asked.name} gives for {', '.join(lost)}{' in any case' if case else ''}, which the {shown} takes."
        yield "", said + _paste(flag, field, f"values = [{values}]{case}")
    else:
        yield f"{shown} ({_refusing(flag, texts, outside)})", ""


def _refusing(flag: str, texts: Iterable[str], outside: Outside) -> str:
    """By which rules texts of a flag are refused."""
    used = sorted({outside.refused(flag, text) for text in texts} - {""})
    return f"refused by {', '.join(used)}" if used else "takes none of these"


def _truth(rule: Fact | Domain) -> bool:
    """Truth of what a fact says; false of a domain."""
    return bool(rule.value) if isinstance(rule, Fact) else False


def _paste(flag: str, field: Field, which: str) -> str:
    dashed = flag.replace("_", "-")
    return (
        f' Refuse it:\n[[reject]]\nid = "refuse-{dashed}"\nwhy = "The flag itself."\nfeature = "..."\n'
        f'function = "{field.owner}.__post_init__"\nattribute = "{flag}"\n{which}\ninstead = "Leave out --{dashed}."'
    )
