"""Compare what the command lines and HTTP servers of two trees take and answer, and tell by which
rule they differ. Both trees are only read: nothing of them is imported.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from shrinker.program.decided import around, looking, rule_of
from shrinker.program.interface.offers import Choice, Offer, Offered, read_offered
from shrinker.program.interface.syntax import Syntax
from shrinker.ruleset import Ruleset
from shrinker.values.folded import Folded
from shrinker.values.graph import Graph
from shrinker.values.interface import UNEXPLAINED, Difference, Interface, Refused
from shrinker.values.relations import grouped


@dataclass(frozen=True, slots=True)
class Changed:
    """One part of an offer that two trees write otherwise, or an offer that only one has."""

    offer: Offer
    """The one that is there, the old one of two."""
    kind: str
    """``removed``, ``added``, ``choice removed``, ``choice added``, ``changed``, or the label of a
    part and ``changed``.
    """
    before: str = ""
    after: str = ""
    new: Offer | None = None
    choice: Choice | None = None
    """That was removed."""


def changes(before: Iterable[Offer], after: Iterable[Offer]) -> Iterator[Changed]:
    """Yield what differs, in the order of `before`, then what only `after` has."""
    old, now = dict.fromkeys(before), dict.fromkeys(after)
    new = {(offer.where, offer.subject): offer for offer in now if offer not in old}
    for offer in old:
        if offer in now:
            continue
        other = new.pop((offer.where, offer.subject), None)
        if other is None:
            yield Changed(offer, "removed")
        else:
            yield from _parts(offer, other)
    yield from (Changed(offer, "added", new=offer) for offer in new.values())


def _parts(old: Offer, new: Offer) -> Iterator[Changed]:
    told = old.choices is not None and new.choices is not None
    before, after = (dict.fromkeys(each.choices or ()) if told else {} for each in (old, new))
    for choice in (choice for choice in before if choice not in after):
        yield Changed(old, "choice removed", choice.text, new=new, choice=choice)
    yield from (
        Changed(old, "choice added", "", choice.text, new)
        for choice in after
        if choice not in before
    )
    for (label, text), (_, other) in zip(old.parts, new.parts, strict=True):
        if text != other and not (told and label == "choices"):
            yield Changed(old, f"{label} changed".strip(), text, other, new)


def compare_interfaces(
    before: Offered, after: Syntax, rules: Ruleset, folded: Folded, graph: Graph
) -> Interface:
    """Compare the interfaces of upstream and of the generated tree; folded modules, by path, tell
    which decisions took something away.
    """
    # What is left of a text holds no word that the text did not hold.
    left = read_offered(after, before.modules)
    told = _Told(before.paths, folded, graph)
    return Interface(
        tuple(sorted(told.differences(before.flags, left.flags, "flag"))),
        tuple(sorted(set(_refused(rules, left.flags, folded)))),
        tuple(sorted(told.differences(before.endpoints, left.endpoints, "endpoint"))),
        before.unread,
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """Differences, each with what took lines of upstream away."""

    paths: Mapping[str, str]
    folded: Folded
    graph: Graph

    def differences(
        self, before: Sequence[Offer], after: Sequence[Offer], noun: str
    ) -> Iterator[Difference]:
        """Yield those of flags, or of endpoints; a command line that went as a whole, or a module
        of endpoints, is one.
        """
        whole = {offer.group for offer in before} - {offer.group for offer in after}
        found = [*changes(before, after)]
        yield from (self._difference(change) for change in found if change.offer.group not in whole)
        gone = (change.offer for change in found if change.offer.group in whole)
        for group, offers in grouped((offer.group, offer) for offer in gone).items():
            first = min(offers, key=lambda offer: offer.line)
            count = f"{len(offers)} {noun}{'s' if len(offers) > 1 else ''}"
            rule = self._rule(first.module, first.line, first.end_line)
            yield Difference(
                group, "(all)", "removed", count, "", rule, self._path(first.module), first.line
            )

    def _difference(self, change: Changed) -> Difference:
        offer, choice, rule = change.offer, change.choice, UNEXPLAINED
        if choice is not None:
            rule = self._rule(choice.module, choice.line, choice.line, choice.text.strip("'"))
        elif change.kind not in ("added", "choice added"):
            rule = self._rule(offer.module, offer.line, offer.end_line)
        told = (offer.where, offer.subject, change.kind, change.before, change.after)
        return Difference(*told, rule, self._path(offer.module), offer.line, offer.names)

    def _path(self, module: str) -> str:
        return self.paths.get(module, module)

    def _rule(self, module: str, line: int, end_line: int, word: str = "") -> str:
        path = self._path(module)
        if rule := rule_of(path, line, end_line, self.folded, self.graph.removed, word):
            return rule
        went = around(self.folded[path].decisions, line) if path in self.folded else None
        return went.rule if went is not None else UNEXPLAINED


def _refused(rules: Ruleset, flags: Sequence[Offer], folded: Folded) -> Iterator[Refused]:
    by_attribute = grouped(
        (name.lstrip("-").replace("-", "_"), flag) for flag in flags for name in flag.names
    )
    # Only then what a flag of another name fills: an older name of a flag fills the same.
    by_attribute = {
        flag.attribute: [flag] for flag in reversed(flags) if flag.attribute
    } | by_attribute
    # A rule for another release looks at nothing here.
    asked = looking(folded)
    for rule in rules.refusals:
        for attribute in rule.attributes if rule.id in asked else ():
            subject, where = attribute or rule.argument, ", ".join(rule.functions)
            # Of several programs with such a flag the one whose code looks.
            named = sorted(
                by_attribute.get(attribute, ()), key=lambda flag: not where.startswith(flag.where)
            )
            if named:
                subject, where = named[0].subject, named[0].where
            yield Refused(subject, rule.id, rule.values, rule.only, rule.instead, where)
