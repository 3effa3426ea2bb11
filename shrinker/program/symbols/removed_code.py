"""What of upstream's text is no unit: definitions that folding or a rule removed, and code that is gone and named something."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set

from shrinker.program.decided import around, deciding, folded_away, told
from shrinker.program.symbols.units import Unit
from shrinker.program.written import Written
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph
from shrinker.values.upstream import enclosing

_BOUND = re.compile(
    r"^(?:(?P<indent>[ \t]*)(?:async[ \t]+)?(?P<kind>def|class)[ \t]+(?P<name>\w+)|"
    r"(?P<assigned>[A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?=(?!=))",
    re.MULTILINE,
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_MOST = 4
"""Places in one file where removed code names one removed symbol."""

Gone = tuple[str, str, int, int, str, str]
"""Module, name in it, line, last line, rule, and what was decided."""
Site = tuple[str, int, str, str, str]
"""Path and line of code of upstream that named a removed symbol, what became of it, the kept symbol around it, and by which name something
that is defined elsewhere may be meant: as the file imports it, ``.`` where it is read from something."""


def without_unit(text: str, folded: FoldedModule, known: Collection[str]) -> tuple[list[Gone], dict[str, str]]:
    """Definitions of a kept module that are no units: none of the `known` names that units bind.

    Returns:
        Those that folding or a rule removed; and the names of those that stay or go with the unit around them, to that unit: a class in
        the body of a class, and what that defines.
    """
    gone: list[Gone] = []
    inner: dict[str, str] = {}
    for name, line, kind in _bound(text):
        near = around(folded.decisions, line)
        whole = f"{folded.module}.{name}"
        # A text over several lines may hold what looks like an assignment: only what is gone is one.
        if whole in known or (near is None and kind == "assigned"):
            continue
        unit = next((each for each in enclosing(whole) if each in known), None)
        if near is None and kind == "nested" and unit is not None:
            inner[whole] = unit
        elif (near := near or deciding(folded.decisions, line)) is not None:
            gone.append((folded.module, name, line, near.last if near.line == line else line, near.rule, told(near)))
    return gone, inner


def _bound(text: str) -> Iterator[tuple[str, int, str]]:
    """Qualified names and lines of definitions, but for those inside functions, and of what is assigned at the start of a line.

    Yields:
        With them ``defined``, ``assigned``, or ``nested`` where a class in a class is around it or meant.
    """
    outer: list[tuple[int, str, str]] = []
    line, at = 1, 0
    for match in _BOUND.finditer(text):
        line, at = line + text.count("\n", at, match.start()), match.start()
        if match["assigned"]:
            yield match["assigned"], line, "assigned"
            continue
        indent = len(match["indent"].expandtabs())
        while outer and outer[-1][0] >= indent:
            outer.pop()
        if all(kind == "class" for _, kind, _ in outer):
            classes = len(outer) + (match["kind"] == "class")
            yield ".".join([*(name for *_, name in outer), match["name"]]), line, "nested" if classes > 1 else "defined"
        outer.append((indent, match["kind"], match["name"]))


def module_sites(
    text: str, before: FoldedModule, units: Sequence[Unit], words: Set[str], written: Written
) -> Iterator[tuple[str, Site]]:
    """Code of a kept module that named a removed symbol in upstream, and that is gone.

    Args:
        text: of upstream.
        before: the folded module, before anything was dropped from it.
        words: last parts of the names of removed symbols.

    Yields:
        One of these parts, and the site.
    """
    imported = {dotted.rpartition(".")[2]: dotted for _, dotted in written.get(before.path, ())}
    touched = {n for e in before.edits for n in range(e.span.line, e.span.end_line + 1)}
    counts: Counter[str] = Counter()
    for number, content in enumerate(text.split("\n"), 1) if touched else ():
        if number not in touched or content.lstrip().startswith("#"):
            continue
        asked = words & set(_WORD.findall(content))
        counts.update(asked)
        for word in (word for word in asked if counts[word] <= _MOST):
            inside = [unit.name for unit in units if unit.live and unit.line <= number <= unit.end_line]
            elsewhere = "." if f".{word}" in content else imported.get(word, "")
            yield word, (before.path, number, folded_away(before, number), inside[-1] if inside else "", elsewhere)


def outside_sites(
    graph: Graph, written: Written, dropped: Collection[str], asked: Mapping[str, tuple[str, int] | None]
) -> Iterator[tuple[str, Site]]:
    """Code of removed files that named one of the symbols that were dropped, as `module_sites`; and of the public methods that nothing
    reached, those that such a file names first in upstream."""
    for path, removal in graph.removed.items():
        fate = f"imported by a removed file ({removal.rule})"
        for line, dotted in written.get(path, ()):
            if dotted in dropped:
                yield dotted.rpartition(".")[2], (path, line, fate, "", dotted)
    for name, place in asked.items():
        if place is not None and (found := graph.removed.get(place[0])) is not None:
            yield name, (*place, f"named by a removed file ({found.rule})", "", ".")
