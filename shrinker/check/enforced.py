"""Claims of the rules about what can be set from outside: each needs a refusal over what it says
never is, where it comes in.

A claim names a flag, a field of a request, an environment variable, or something else. The first
and what enumerations are made of flags must be refused in the table that the generated tree looks
at; variables are refused by their rule. Of anything else the rule says why nothing sets it
(`follows`, `machine`), or its name holds a word of another platform. Nothing here asks what folding
decided.
"""

import re
from collections.abc import Iterable, Iterator

from shrinker.check.capabilities.vocabulary import Vocabulary
from shrinker.check.entered import Asked
from shrinker.check.outside import Field, Outside
from shrinker.ruleset import Fact, Ruleset
from shrinker.ruleset.models import Domain
from shrinker.values.interface import Judged
from shrinker.values.outcome import Finding

CHECK = "unenforced"
_SWITCH = re.compile(r"EnvBool|.*bool.*", re.IGNORECASE)


class _Missing(str):
    """What a claim says and nothing enforces; any other text says where what it speaks of comes in,
    and what enforces it there.
    """


def judge_claims(outside: Outside) -> Iterator[Judged]:
    """Yield every fact and domain of the rules, in their order."""
    rules: tuple[Fact | Domain, ...] = (*outside.rules.facts, *outside.rules.domains)
    for rule in rules:
        said = dict.fromkeys(_said(rule, outside))
        missing = tuple(str(text) for text in said if isinstance(text, _Missing))
        yield Judged(
            rule.id, tuple(text for text in said if not isinstance(text, _Missing)), missing
        )


def unenforced(judged: Iterable[Judged], rules: Ruleset) -> Iterator[Finding]:
    """Yield what is missing, as findings."""
    for each in judged:
        file, _, line = rules.places.get(each.rule, each.rule).rpartition(":")
        place = file or each.rule, int(line) if line.isdigit() else 0
        yield from (Finding(CHECK, *place, f"{each.rule}: {text}") for text in each.missing)


def _said(rule: Fact | Domain, outside: Outside) -> Iterator[str]:
    """Yield what a claim says of each thing that it names."""
    if isinstance(rule, Fact):
        yield from (_variable(name, rule, outside) for name in rule.environment)
        for name in rule.macros:
            # `machine = true` is no answer: the compiler for NVIDIA's devices defines macros, too,
            # and no check of the host sees them.
            said = (
                f"says that the macro {name} is not defined, and no [[dropped]] rule has a word of "
                "it"
            )
            row = Vocabulary(outside.rules.dropped).of((name,), False)
            yield (
                f"macro {name}: {row}"
                if row
                else _Missing(f"{said}: a compiler or a build may define it")
            )
    others = (
        (*rule.attributes, *rule.instances)
        if isinstance(rule, Fact)
        else (*rule.lists, *rule.tables, *rule.registers)
    )
    for pattern in (*rule.calls, *rule.names, *others):
        yield from _pattern(pattern, rule, outside)


def _variable(name: str, rule: Fact, outside: Outside) -> str:
    claim = f"says that the variable {name} is"
    if rule.value:
        return _Missing(
            f"{claim} {rule.value!r}, which nothing enforces: only what is off can be refused"
        )
    if outside.foreign.within(name):
        return "environment (refused), another platform"
    for how, yes in outside.variables.get(name, ()):
        if yes:
            return _Missing(f"{claim} off, which upstream has on where nobody sets it ({how})")
        if rule.value is False and not _SWITCH.fullmatch(how) and how.startswith("Env"):
            counts = f"{claim} false, and upstream reads it by {how}: any text counts there"
            return _Missing(f"{counts}. Leave `value` out: any text is refused then")
    return "environment (refused)"


def _pattern(pattern: str, rule: Fact | Domain, outside: Outside) -> Iterable[str]:
    last = pattern.rpartition(".")[2]
    if last in outside.flags and pattern not in rule.calls:
        said = [_flag(pattern, last, rule, outside)]
        if last in outside.requests:
            said.append(_request(pattern, last, rule, outside))
        return said
    made = (
        list(outside.made_of(pattern)) if isinstance(rule, Fact) and pattern in rule.calls else []
    )
    if made and not rule.machine:
        return (_enumeration(pattern, asked, flag, rule, outside) for asked, flag in made)
    never = rule.never if isinstance(rule, Domain) else ()
    if outside.foreign.within(last) or (never and all(map(outside.foreign.within, never))):
        return ["another platform"]
    return [_followed(pattern, rule, outside)]


def _followed(pattern: str, rule: Fact | Domain, outside: Outside) -> str:
    last = pattern.rpartition(".")[2]
    asked = (
        [f"request {field.owner.rpartition('.')[2]}.{last}"]
        if (field := outside.requests.get(last))
        else []
    )
    computed = ", ".join([*asked, *_computed(pattern, rule, outside)])
    shown = f"{computed}: " if computed else ""
    refusal = next(
        (r.id for r in outside.rules.refusals if isinstance(rule, Domain) and r.domain == rule.id),
        "",
    )
    if refusal not in outside.placed:
        refusal = outside.refused(last) if asked and isinstance(rule, Fact) else ""
    if refusal:
        return f"{shown}refused by {refusal}"
    if rule.machine:
        return f"{shown}the machine"
    if not outside.written(pattern):
        return "not in this upstream"
    if lost := [each for each in rule.follows if not outside.stands(each)]:
        verb = "is" if len(lost) == 1 else "are"
        return _Missing(f"follows {', '.join(lost)}, which {verb} not in force in this tree")
    if rule.follows:
        return f"{shown}follows {', '.join(rule.follows)}"
    from_what = (
        f"upstream computes it from {computed}"
        if computed
        else "it may be set by a checkpoint or a request"
    )
    todo = "Refuse that by a [[reject]], and name it in `follows = [...]` of this rule"
    said = f"says of `{pattern}` what nothing enforces: {from_what}. {todo}"
    return _Missing(f"{said}; or say `machine = true` where no run can set it")


def _computed(pattern: str, rule: Fact | Domain, outside: Outside) -> Iterator[str]:
    """Yield flags and variables that upstream computes it from; of a text only flags that list one
    of these among their choices.
    """
    for kind, leaf in sorted(outside.leaves(pattern)):
        if kind == "variable" and isinstance(rule, Fact):
            yield f"variable {leaf}"
        elif kind == "flag" and (field := outside.flags.get(leaf)) is not None:
            yield from (
                [_shown(leaf)]
                if isinstance(rule, Fact) or set(rule.never) & set(field.choices or ())
                else []
            )


def _shown(flag: str) -> str:
    return f"flag --{flag.replace('_', '-')}"


def _flag(pattern: str, flag: str, rule: Fact | Domain, outside: Outside) -> str:
    field, shown, claim = outside.flags[flag], _shown(flag), f"says of `{pattern}`"
    refusal = outside.refused(flag) if isinstance(rule, Domain) or not rule.value else ""
    if refusal:
        return f"{shown} (refused by {refusal})"
    if dependent := outside.dependent(flag):
        return f"{shown} (without effect: {dependent})"
    if isinstance(rule, Fact):
        return _Missing(
            f"{claim} that it is {rule.value}, which the {shown} "
            f"sets.{_paste(flag, field, 'set = true')}"
        )
    if rule.only:
        used = (
            r.id for r in outside.refusals.get(flag, ()) if r.only and set(r.only) <= set(rule.only)
        )
        if refusal := next(used, ""):
            return f"{shown} (refused by {refusal})"
        said = f"all that it may be, and the {shown} takes more"
    else:
        texts = [*filter(field.takes, rule.never)]
        lost = [text for text in texts if not outside.refused(flag, text)]
        if not lost:
            return f"{shown} ({_refusing(flag, texts, outside)})"
        said = f"that it is never {', '.join(lost)}, which the {shown} takes"
    domain = f'domain = "{rule.id}"'
    return _Missing(f"{claim} {said}.{_paste(flag, field, domain)}")


def _request(pattern: str, name: str, rule: Fact | Domain, outside: Outside) -> str:
    """Say what enforces a claim about a field of a request that has the name of a flag.

    The refusal of the flag looks when the server starts; what a request says later it never sees.
    """
    field = outside.requests[name]
    owner = field.owner.rpartition(".")[2]
    shown = f"request {owner}.{name}"
    if isinstance(rule, Fact):
        lost = [] if rule.value or outside.refused_in_request(name) else ["anything"]
    else:
        # A request's field seldom lists its choices: then the flag's are taken to be its own.
        takes = (field if field.choices else outside.flags[name]).takes
        texts = filter(takes, rule.never)
        lost = [text for text in texts if not outside.refused_in_request(name, text)]
    if not lost:
        return f"{shown} (refused)"
    return _Missing(
        f"says of `{pattern}` that it is never {', '.join(lost)}, and the {shown} may say so while "
        f"the server runs. Refuse it by a [[reject]] in the function that is handed {name!r}"
    )


def _enumeration(
    pattern: str, asked: Asked, flag: str, rule: Fact | Domain, outside: Outside
) -> str:
    """Return a method of what is made of a flag: the texts for which it is true are refused where
    the flag is looked at.
    """
    true = dict(asked.asks)[pattern.rpartition(".")[2]]
    value = isinstance(rule, Fact) and bool(rule.value)
    field, shown = outside.flags[flag], _shown(flag)
    texts = [text for member, text in asked.texts if (member in true) is not value]
    lost = [
        text
        for text in texts
        if field.takes(text) and not outside.refused(flag, text, asked.any_case)
    ]
    if not lost or outside.dependent(flag):
        return f"{shown} ({_refusing(flag, texts, outside)})"
    case, key = (" in any case", "\nany_case = true") if asked.any_case else ("", "")
    values = ", ".join(f'"{text}"' for text in lost)
    said = (
        f"says of `{pattern}` what {asked.name} gives for {', '.join(lost)}{case}, which the "
        f"{shown} takes."
    )
    return _Missing(said + _paste(flag, field, f"values = [{values}]{key}"))


def _refusing(flag: str, texts: Iterable[str], outside: Outside) -> str:
    """By which rules texts of a flag are refused."""
    used = sorted({outside.refused(flag, text) for text in texts} - {""})
    return f"refused by {', '.join(used)}" if used else "takes none of these"


def _paste(flag: str, field: Field, which: str) -> str:
    dashed = flag.replace("_", "-")
    return (
        f' Refuse it:\n[[reject]]\nid = "refuse-{dashed}"\n'
        'why = "The flag itself."\nfeature = "..."\n'
        f'function = "{field.owner}.__post_init__"\nattribute = "{flag}"\n{which}\n'
        f'instead = "Leave out --{dashed}."'
    )
