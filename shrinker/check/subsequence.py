"""Is a generated file what is left of upstream's after deletions, but for the closed list of
allowances?

The question is whether an alignment exists: every logical line of the generated file lies, token by
token and in order, inside ONE logical line of upstream's, and the lines keep their order. (Tokens
of one statement cannot be gathered from several.) Without allowances greedy leftmost matching
decides that exactly: taking the first place that fits never costs a later line its place.

Subtle: with allowances it does not. A `pass` that shrinker wrote may be taken for upstream's own
`pass` 400 lines further down, after which nothing fits; and to treat every `pass` as written by
shrinker would count, and forgive, what is upstream's. So each step keeps both readings: the
*frontier* holds, for each number of allowances used, the earliest place in upstream that this
number can reach. A reading that used more and is no earlier is dropped at once, which the next
unchanged line does in practice: the frontier holds one or two places, and the reading with the
fewest allowances is found, not guessed. Unchanged and deleted lines cost linear time; each use of
an allowance costs one look at the rest of the file (a set comparison a line).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shrinker.check import allowances

# Logical lines: a simple statement, a header of a compound one with what follows it on its line, or
# a comment that stands alone. Without white space, the same on every Python version; an f-string is
# one token. Not by `tokenize`, which takes six times as long; tests compare both over the standard
# library. A text that holds something unknown, or brackets that do not close, is refused.
Tokens = tuple[str, ...]
"""Texts of the tokens of one logical line."""

_STRING = (
    r"(?:[rRbBuUfFtT]{0,2})(?:"
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
    r"|'[^'\\\n]*(?:\\.[^'\\\n]*)*')"
)
_NUMBER = (
    r"0[xXbBoO][\da-fA-F_]+"
    r"|(?:\d[\d_]*\.?(?:\d[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?[jJ]?"
)
_OPERATOR = r"\*\*=?|//=?|>>=?|<<=?|\.\.\.|->|:=|[-+*/%&|^@=!<>]=|[-+*/%&|^~@=<>()\[\]{},:;.]"
_TOKEN = re.compile(
    rf"[ \t\f]*(?:\\\r?\n[ \t\f]*)*({_STRING}|[^\W\d]\w*|\r?\n|#[^\r\n]*|{_NUMBER}|{_OPERATOR}|\Z|.)",
    re.DOTALL,
)
_NESTING = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1, "\n": 0, "\r\n": 0, "": 0}
_KNOWN = re.compile(rf"(?:{_STRING}|\w+|\r?\n|#[^\r\n]*|{_NUMBER}|{_OPERATOR})?", re.DOTALL)


class Line(NamedTuple):
    """One logical line."""

    tokens: Tokens
    number: int
    """1-based line of its first token."""


def is_subsequence(some: Iterable[str], whole: Iterable[str]) -> bool:
    """Tell whether some texts stand in others in their order, whatever is between them."""
    rest = iter(whole)
    return all(text in rest for text in some)


def split(text: str) -> list[Tokens]:
    """Return the logical lines of a file. Raises SyntaxError: the text is not Python."""
    found = _TOKEN.findall(text)
    return [tuple(filter(str.strip, found[first:last])) for first, last in _bounds(found)]


def logical_lines(text: str) -> list[Line]:
    """Return the same with their line numbers."""
    found, starts = zip(
        *((match[1], match.start(1)) for match in _TOKEN.finditer(text)), strict=True
    )
    rows = ((found[first:last], starts[first]) for first, last in _bounds(found))
    return [
        Line(tuple(filter(str.strip, row)), text.count("\n", 0, start) + 1) for row, start in rows
    ]


def _bounds(found: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield places of the first token of each logical line, and of the line end behind it; line
    ends within brackets lie between them.
    """
    # Whatever only the last alternative (one character of any kind) took has length one.
    unknown = [each for each in set(found) if len(each) == 1 and _KNOWN.fullmatch(each) is None]
    depth, first = 0, -1
    for at, each in enumerate(found):
        deeper = _NESTING.get(each)
        if deeper != 0:
            depth += deeper or 0
            first = at if first < 0 else first
        elif depth == 0 and first >= 0:
            yield first, at
            first = -1
        if depth < 0:
            break
    if unknown or depth:
        raise SyntaxError(f"what is {unknown[0]!r}?" if unknown else "brackets that do not close")


MAX_MISMATCHES = 3
"""A file that does not align tends not to align in many places; the first ones tell."""
_Used = tuple[str, ...]
_Place = tuple[int, int, _Used]
"""Upstream line, token in it, allowances used."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Result for one file."""

    used: dict[str, int]
    """How often each allowance was used, in the reading that used fewest."""
    mismatches: tuple[tuple[int, str], ...]
    """Where no reading goes on: index of the logical line, and its tokens; empty when the property
    holds.
    """


def align(
    generated: list[Tokens],
    ours: list[Tokens],
    defaults: allowances.Defaults | None = None,
    package: str = "",
) -> Alignment:
    """Compare the logical lines of a generated file with those of upstream's.

    Args:
        generated: those of the generated file.
        ours: those of upstream's.
        defaults: what rules put in the place of upstream's defaults.
        package: the package that the file's relative imports are below.
    """
    header = allowances.header_of(generated)
    counts = Counter({allowances.HEADER: int(header is not None)})
    sets = [*map(frozenset, ours)]
    mismatches: list[tuple[int, str]] = []
    frontier: list[_Place] = [(0, 0, ())]
    upstream = set(ours)
    for number, wanted in enumerate(generated):
        if number == header:
            continue
        if wanted not in upstream:
            guard = wanted == allowances.GUARD_TOKENS and not counts[allowances.GUARD]
            if guard or allowances.is_refusal(wanted):
                counts[allowances.GUARD if guard else allowances.REFUSAL] += 1
                continue
        at, offset, used = frontier[0]
        if len(frontier) == 1 and not offset and at < len(ours) and ours[at] == wanted:
            frontier = [(at + 1, 0, used)]
            continue
        allowed = allowances.allowed(wanted, defaults or {})
        reached = [
            each for place in frontier for each in _advance(wanted, allowed, ours, sets, place)
        ]
        if (module := allowances.loaded_alone(wanted)) and wanted not in upstream:
            reached += [
                each
                for place in frontier
                for each in _load_alone(wanted, module, ours, place, package)
            ]
        if reached:
            frontier = []
            for place in sorted(reached, key=lambda place: (*place[:2], len(place[2]))):
                if not frontier or len(place[2]) < len(frontier[-1][2]):
                    frontier.append(place)
            continue
        mismatches.append((number, " ".join(wanted)[:100]))
        if len(mismatches) == MAX_MISMATCHES:
            break
    counts.update(min(frontier, key=lambda place: len(place[2]))[2])
    return Alignment(dict(counts), tuple(mismatches))


def _advance(
    wanted: Tokens,
    allowed: allowances.Allowed,
    ours: list[Tokens],
    sets: list[frozenset[str]],
    place: _Place,
) -> list[_Place]:
    """Return places that `wanted` can reach from `place`: ever later ones that use ever fewer
    allowances.
    """
    at, offset, used = place
    whole = frozenset(wanted)
    reached: list[_Place] = []
    best = len(used) + len(allowed.tokens) + 1
    for index in range(at, len(ours)):
        theirs, start = ours[index], offset if index == at else 0
        end = _plain(wanted, theirs, start) if whole <= sets[index] else None
        if end is not None:
            reached.append((index, end, used))
            break
        # Later lines are worth a look only for a reading that uses fewer allowances.
        if (
            (allowed.replace or allowed.insert)
            and best > len(used) + 1
            and allowed.needed <= sets[index]
        ):
            for end, by in within(allowed, theirs, start, used):
                if len(by) < best:
                    best = len(by)
                    reached.append((index, end, by))
    # Where nothing is left of a line the next one begins.
    return [(i + 1, 0, by) if end == len(ours[i]) else (i, end, by) for i, end, by in reached]


def _load_alone(
    wanted: Tokens, module: str, ours: list[Tokens], place: _Place, package: str
) -> Iterator[_Place]:
    """Find the next line that imports names from a module, for one that imports the module
    alone.
    """
    at, offset, used = place
    for index in range(at + bool(offset), len(ours)):
        theirs = ours[index]
        noted = not wanted[-1].startswith("#") or wanted[-1] in theirs
        if noted and allowances.named_from(theirs, package) == module:
            yield index + 1, 0, (*used, allowances.LOADING)
            return


def _plain(wanted: Tokens, theirs: Tokens, start: int) -> int | None:
    """Index after the leftmost subsequence equal to `wanted`, `None` when there is none."""
    try:
        for text in wanted:
            start = theirs.index(text, start) + 1
    except ValueError:
        return None
    return start


def within(
    allowed: allowances.Allowed, theirs: Tokens, start: int = 0, used: _Used = ()
) -> list[tuple[int, _Used]]:
    """Return all useful readings of a line inside one of upstream's: index after it, allowances
    used.
    """
    states = [(start, used)]
    for i, text in enumerate(allowed.tokens):
        following: list[tuple[int, _Used]] = []
        replacing, inserting = allowed.replace.get(i), allowed.insert.get(i)
        literal = allowed.replace.get(i + 1) in allowances.LITERALS
        for position, by in states:
            end = _plain((text,), theirs, position)
            while end is not None:
                following.append((end, by))
                # `x is None is y`: the `is` before a literal of ours may be a later one than the
                # first.
                end = (
                    _plain((text,), theirs, end)
                    if literal and _first(theirs, end) in allowances.LITERALS
                    else None
                )
            if replacing == allowances.DEFAULT:
                ends = (_plain((before,), theirs, position) for before in allowed.defaults[text])
                following += [(e, (*by, replacing)) for e in ends if e is not None]
            elif replacing is not None and position < len(theirs):
                arm = replacing in {allowances.IF_FOR_ELIF, allowances.ELSE_FOR_ELIF}
                if arm and (position != 0 or theirs[0] != "elif"):
                    continue
                if (
                    replacing in allowances.LITERALS
                    and _first(theirs, position) in allowances.LITERALS
                ):
                    # What is a value already was not decided: another one is a change.
                    continue
                following.append((position + 1, (*by, replacing)))
            if inserting is not None:
                following.append((position, (*by, inserting)))
        if not following:
            return []
        states = []
        least = least_open = len(used) + len(allowed.tokens) + 1
        for end, by in sorted(following, key=lambda state: (state[0], len(state[1]))):
            shut = literal and _first(theirs, end) in allowances.LITERALS
            if len(by) < (least if shut else least_open):
                states.append((end, by))
                least = min(least, len(by))
                least_open = least_open if shut else len(by)
    return states


def _first(theirs: Tokens, position: int) -> str:
    """Return the token at a position, or the first one in the brackets that open there: these may
    go.
    """
    while position < len(theirs) - 1 and theirs[position] in "([{":
        position += 1
    return theirs[position] if position < len(theirs) else ""
