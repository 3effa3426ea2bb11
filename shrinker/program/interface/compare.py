"""Compare what the command lines and HTTP servers of two trees take and answer, and tell by which rule they differ. Both trees
are only read: nothing of them is imported."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from shrinker.cache import Cache, pack, unpack
from shrinker.program.interface.endpoints import WORDS as ENDPOINTS
from shrinker.program.interface.endpoints import Endpoint, read_endpoints
from shrinker.program.interface.flags import WORDS as FLAGS
from shrinker.program.interface.flags import Flag, read_flags
from shrinker.program.interface.reasons import rule_of
from shrinker.program.interface.syntax import Syntax
from shrinker.ruleset import Ruleset
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph
from shrinker.values.interface import UNEXPLAINED, Difference, Interface, Refused


@dataclass(frozen=True, slots=True)
class Offered:
    """What the command lines and servers of one tree take and answer."""

    syntax: Syntax
    flags: list[Flag]
    endpoints: list[Endpoint]
    modules: frozenset[str]
    """Modules that hold words of either."""


def read_offered(syntax: Syntax, flags: Iterable[str], endpoints: Iterable[str]) -> Offered:
    """Flags and endpoints of a tree.

    Args:
        syntax: modules of the tree.
        flags: modules that may have flags.
        endpoints: the same of endpoints.
    """
    modules = frozenset((*flags, *endpoints))
    return Offered(syntax, read_flags(syntax, sorted(flags)), read_endpoints(syntax, sorted(endpoints)), modules)


def compare_interfaces(
    before: Offered, after: Syntax, rules: Ruleset, folded: Mapping[str, FoldedModule], graph: Graph
) -> Interface:
    """Compare the interfaces of upstream and of the generated tree.

    Args:
        before: what upstream offers.
        after: modules of the generated tree.
        folded: folded modules by path, for the decisions that took something away.
    """
    reasons = _Reasons(before.syntax, folded, graph)
    # What is left of a text holds no word that the text did not hold.
    left = read_offered(after, *after.matching(*WORDS, among=before.modules))
    return Interface(
        tuple(sorted(_flags(before.flags, left.flags, reasons))),
        tuple(sorted(set(_refused(rules, left.flags, folded)))),
        tuple(sorted(_endpoints(before.endpoints, left.endpoints, reasons))),
    )


class _Reasons:
    """Looks up what took lines of upstream away."""

    def __init__(self, syntax: Syntax, folded: Mapping[str, FoldedModule], graph: Graph) -> None:
        self.syntax = syntax
        self._folded = folded
        self._graph = graph

    def path(self, module: str) -> str:
        return self.syntax.paths.get(module, module)

    def removed(self, module: str) -> bool:
        return self.path(module) in self._graph.removed

    def of(self, module: str, line: int, end_line: int, word: str = "") -> str:
        path, tree = self.path(module), self.syntax.tree(module)
        return rule_of(path, line, end_line, self._folded, self._graph.removed, word, tree) or UNEXPLAINED


def _flags(before: Iterable[Flag], after: Iterable[Flag], reasons: _Reasons) -> Iterator[Difference]:
    groups: dict[tuple[str, str], list[Flag]] = defaultdict(list)
    left: dict[tuple[str, str], list[Flag]] = defaultdict(list)
    for flag in before:
        groups[flag.module, flag.owner].append(flag)
    for flag in after:
        left[flag.module, flag.owner].append(flag)
    for (module, owner), flags in sorted(groups.items()):
        there = left.pop((module, owner), [])
        if not there:
            first = min(flags, key=lambda flag: flag.line)
            count = f"{len(flags)} flag{'s' if len(flags) > 1 else ''}"
            rule = reasons.of(module, first.line, first.end_line)
            yield Difference(
                _where(module, owner), "(all)", "removed", count, "", rule, reasons.path(module), first.line
            )
            continue
        for pair in _pairs(flags, there):
            yield from _flag(*pair, reasons)
    for flags in left.values():
        for flag in flags:
            yield _difference(flag, "added", "", "", UNEXPLAINED, reasons)


def _pairs(before: list[Flag], after: list[Flag]) -> Iterator[tuple[Flag | None, Flag | None]]:
    """Flags of one command line that are the same; the first name tells, and the order where several share it."""
    rest: dict[str, list[Flag]] = defaultdict(list)
    for flag in after:
        rest[flag.names[0]].append(flag)
    for flag in before:
        same = rest[flag.names[0]]
        like = [now for now in same if (now.rest, now.choices_text) == (flag.rest, flag.choices_text)]
        found = like or same
        now = found[0] if found else None
        if now is not None:
            same.remove(now)
        yield flag, now
    for flags in rest.values():
        yield from ((None, flag) for flag in flags)


def _flag(flag: Flag | None, now: Flag | None, reasons: _Reasons) -> Iterator[Difference]:
    if flag is None:
        assert now is not None, "one of the two is there"
        yield _difference(now, "added", "", "", UNEXPLAINED, reasons)
        return
    if now is None:
        yield _difference(flag, "removed", "", "", reasons.of(flag.module, flag.line, flag.end_line), reasons)
        return
    if flag.choices is not None and now.choices is not None:
        kept = {choice.text for choice in now.choices}
        known = {choice.text for choice in flag.choices}
        for choice in dict.fromkeys(flag.choices):
            if choice.text not in kept:
                rule = reasons.of(choice.module, choice.line, choice.line, choice.text.strip("'"))
                yield _difference(flag, "choice removed", choice.text, "", rule, reasons)
        for choice in now.choices:
            if choice.text not in known:
                yield _difference(flag, "choice added", "", choice.text, UNEXPLAINED, reasons)
    elif flag.choices_text != now.choices_text:
        rule = reasons.of(flag.module, flag.line, flag.end_line)
        yield _difference(flag, "choices changed", flag.choices_text, now.choices_text, rule, reasons)
    if flag.default != now.default:
        rule = reasons.of(flag.default_module, flag.default_line, flag.default_line)
        yield _difference(flag, "default changed", flag.default, now.default, rule, reasons)
    if (flag.names, flag.rest) != (now.names, now.rest):
        rule = reasons.of(flag.module, flag.line, flag.end_line)
        yield _difference(flag, "changed", _written(flag), _written(now), rule, reasons)


def _written(flag: Flag) -> str:
    return ", ".join(filter(None, (*flag.names, flag.rest)))


def _difference(flag: Flag, kind: str, before: str, after: str, rule: str, reasons: _Reasons) -> Difference:
    where = _where(flag.module, flag.owner)
    path = reasons.path(flag.module)
    return Difference(where, flag.names[0], kind, before, after, rule, path, flag.line, flag.names)


def _refused(rules: Ruleset, flags: Sequence[Flag], folded: Mapping[str, FoldedModule]) -> Iterator[Refused]:
    by_attribute: dict[str, list[Flag]] = defaultdict(list)
    for flag in flags:
        for name in flag.names:
            by_attribute[name.lstrip("-").replace("-", "_")].append(flag)
    # Only then what a flag of another name fills: an older name of a flag fills the same.
    for flag in flags:
        if flag.attribute and flag.attribute not in by_attribute:
            by_attribute[flag.attribute] = [flag]
    # A rule for another release looks at nothing here.
    looking = {r for module in folded.values() for d in module.decisions if d.kind == "refusal" for r in d.rules}
    for rule in rules.refusals:
        for attribute in rule.attributes if rule.id in looking else ():
            subject, where = attribute or rule.argument, ", ".join(rule.functions)
            # Of several programs with such a flag the one whose code looks.
            named = sorted(
                by_attribute[attribute], key=lambda flag: not where.startswith(_where(flag.module, flag.owner))
            )
            if named:
                subject, where = named[0].names[0], _where(named[0].module, named[0].owner)
            yield Refused(subject, rule.id, rule.values, rule.only, rule.instead, where)


def _endpoints(before: Iterable[Endpoint], after: Iterable[Endpoint], reasons: _Reasons) -> Iterator[Difference]:
    left = {endpoint.key for endpoint in after}
    known: set[tuple[str, str, str, str]] = set()
    gone: dict[str, list[Endpoint]] = defaultdict(list)
    for endpoint in before:
        known.add(endpoint.key)
        if endpoint.key in left:
            continue
        if reasons.removed(endpoint.module):
            gone[endpoint.module].append(endpoint)
            continue
        rule = reasons.of(endpoint.module, endpoint.line, endpoint.end_line)
        yield _answer(endpoint, "removed", rule, reasons)
    for module, endpoints in gone.items():
        first = min(endpoints, key=lambda endpoint: endpoint.line)
        rule = reasons.of(module, first.line, first.end_line)
        paths = len({endpoint.path for endpoint in endpoints})
        count = f"{paths} path{'s' if paths > 1 else ''}"
        yield Difference(module, "(all)", "removed", count, "", rule, reasons.path(module), first.line)
    for endpoint in after:
        if endpoint.key not in known:
            yield _answer(endpoint, "added", UNEXPLAINED, reasons)


def _answer(endpoint: Endpoint, kind: str, rule: str, reasons: _Reasons) -> Difference:
    path = endpoint.path or "(no default)"
    shown = f"{path} or what {endpoint.environment} names" if endpoint.environment else path
    where = _where(endpoint.module, endpoint.function)
    subject = f"{endpoint.method} {shown}"
    return Difference(where, subject, kind, "", "", rule, reasons.path(endpoint.module), endpoint.line)


def _where(module: str, owner: str) -> str:
    return f"{module}.{owner}" if owner else module


WORDS = (FLAGS, ENDPOINTS)
"""What a module with flags writes, and one with endpoints."""


def modules_with_words(syntax: Syntax, hashes: Mapping[str, str], cache: Cache | None = None) -> tuple[set[str], ...]:
    """Modules whose text holds words of flags, and those of endpoints.

    Args:
        syntax: modules of a tree.
        hashes: SHA-256 of the text of every module, by path.
        cache: what earlier runs saw; by default nothing.
    """
    layer = (cache or Cache.off()).layer("words", *(pattern.pattern.decode() for pattern in WORDS))
    key = {"": layer.key()}
    loaded = layer.load(key, counted=False)
    known: dict[str, tuple[bool, ...]] = unpack(loaded[""]) if loaded else {}
    new = sorted(module for module, path in syntax.paths.items() if hashes[path] not in known)
    layer.count(len(syntax.paths), len(syntax.paths) - len(new))
    if new:
        found = syntax.matching(*WORDS, among=new)
        held = [set(modules) for modules in found]
        known |= {hashes[syntax.paths[module]]: tuple(module in each for each in held) for module in new}
        # Of this tree alone, so that it does not grow from commit to commit.
        layer.save(
            key, {"": pack({sha256: known[sha256] for sha256 in map(hashes.__getitem__, syntax.paths.values())})}
        )
    return tuple({module for module, path in syntax.paths.items() if known[hashes[path]][n]} for n in range(len(WORDS)))
