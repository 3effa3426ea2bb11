"""What of a kept module's text is no unit: definitions that folding or a rule removed, and code that is gone and named something."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from shrinker.program.decided import around, deciding, told
from shrinker.program.symbols.program import Key, Module
from shrinker.program.written import Written
from shrinker.values.edits import DropStatement
from shrinker.values.folded import FoldedModule
from shrinker.values.upstream import UpstreamTree

_DEFINITION = re.compile(r"^([ \t]*)(?:async[ \t]+)?(def|class)[ \t]+(\w+)", re.MULTILINE)
_ASSIGNED = re.compile(r"^([A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w*")
_MOST = 4
"""Places in one file where removed code names one removed symbol."""

Site = tuple[str, int, str, str, int]
"""Path and line of code of upstream that named a removed symbol, what became of it, the kept symbol around it, and 1 where what is
defined elsewhere may be meant: the file imports the name, or reads it from something."""


def without_unit(
    tree: UpstreamTree, module: Module, folded: Mapping[str, FoldedModule], names: Mapping[Key, str]
) -> tuple[list[list[Any]], list[str]]:
    """Definitions of a kept module that are no units.

    Returns:
        Those that folding or a rule removed: name, line, last line, rule and what was decided; and the names of those that
        stay or go with the unit around them: a class in the body of a class, and what that defines.
    """
    known = {names[module.name, n] for n in range(len(module.units))}
    gone: list[list[Any]] = []
    inner: list[str] = []
    cut = [e.span for e in folded[module.path].edits if isinstance(e, DropStatement)]
    decisions = folded[module.path].decisions
    text = tree.read(module.path).decode("utf-8", "replace")
    for name, line, nested in _definitions(text):
        if name in known:
            continue
        if nested and name.partition(".")[0] in known and not any(s.line <= line <= s.end_line for s in cut):
            inner.append(name)
        elif (near := deciding(decisions, line)) is not None:
            gone.append([name, line, near.last if near.line == line else line, near.rule, told(near)])
    if decisions:
        # A text over several lines may hold what looks like an assignment: only what is gone is one.
        for name, line in _assigned(text):
            if name not in known and (went := around(decisions, line)) is not None:
                gone.append([name, line, line, went.rule, told(went)])
    return gone, sorted(set(inner))


def _assigned(text: str) -> Iterator[tuple[str, int]]:
    """Names and lines of what is assigned at the start of a line."""
    line, at = 1, 0
    for match in _ASSIGNED.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        yield match[1], line


def _definitions(text: str) -> Iterator[tuple[str, int, bool]]:
    """Qualified names, lines and whether a class in a class is around it or meant, but for definitions inside functions."""
    outer: list[tuple[int, str, str]] = []
    line, at = 1, 0
    for match in _DEFINITION.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        indent, kind, name = len(match[1].expandtabs()), match[2], match[3]
        while outer and outer[-1][0] >= indent:
            outer.pop()
        if all(k == "class" for _, k, _ in outer):
            classes = len(outer) + (kind == "class")
            yield ".".join([*(n for _, _, n in outer), name]), line, classes > 1
        outer.append((indent, kind, name))


def module_sites(
    tree: UpstreamTree, module: Module, live: Sequence[str], before: FoldedModule, words: Set[str], written: Written
) -> Iterator[tuple[str, Site]]:
    """Code of a kept module that named a removed symbol in upstream, and that is gone.

    Args:
        tree: upstream.
        module: the module.
        live: dotted name of each of its units, empty for one that is not live.
        before: the folded module, before anything was dropped from it.
        words: last parts of the names of removed symbols.
        written: imports of all of upstream.

    Yields:
        The last part of a name, and the site.
    """
    if not before.edits:
        return
    imported = {dotted.rpartition(".")[2] for _, dotted in written.get(module.path, ())}
    counts: Counter[str] = Counter()
    for number, content in _cut_lines(tree.read(module.path).decode("utf-8", "replace"), before):
        asked = words & set(_WORD.findall(content))
        counts.update(asked)
        asked = {word for word in asked if counts[word] <= _MOST}
        if not asked:
            continue
        near = deciding(before.decisions, number)
        fate = f"folded away by {near.rule}: `{near.text}` is {near.outcome}" if near else "folded away"
        inside = _around(module, live, number)
        for word in asked:
            elsewhere = int(word in imported or f".{word}" in content)
            yield word, (module.path, number, fate, inside, elsewhere)


def _cut_lines(text: str, folded: FoldedModule) -> Iterator[tuple[int, str]]:
    """Number and text of the lines that folding touched, but for comments."""
    removed = {n for e in folded.edits for n in range(e.span.line, e.span.end_line + 1)}
    for number, content in enumerate(text.split("\n"), 1):
        if number in removed and not content.lstrip().startswith("#"):
            yield number, content


def _around(module: Module, live: Sequence[str], line: int) -> str:
    """The innermost live unit around a line."""
    inner = ""
    for unit, name in zip(module.units, live, strict=True):
        if unit.span.line <= line <= unit.span.end_line and name:
            inner = name
    return inner
