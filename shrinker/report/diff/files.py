"""Files and definitions that only one tree has, and files that both have and that differ, each with
its reason; and the unified diff.
"""

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, takewhile
from operator import eq

from shrinker.program.symbols.units import DEFINITIONS
from shrinker.program.symbols.why import Symbols
from shrinker.report.diff.pair import Pair, Side, fate
from shrinker.report.diff.values import Reason, Row, TextChange
from shrinker.report.place import some
from shrinker.values.graph import UNREACHABLE, Edge

_PLACE = re.compile(r"used at (\S+?):\d+")
_OWN = Reason("shrinker", "shrinker writes this file itself")
"""Why the notice of what was changed differs, and the like."""
_UNKNOWN = Reason("unknown", "the reports of one side are not there")
_CONTEXT = 3
_FIRST = re.compile(r"(?<=[-+])\d+")
"""First line of a side in the head of a hunk."""
_MOST_LINES = 20_000
"""A data file with more lines is told by its size: no one reads it, and comparing it takes minutes.
"""


def file_changes(pair: Pair, texts: Sequence[TextChange]) -> Iterator[Row]:
    """Yield files that only one tree has, and those of both with different content, by the diffs of
    all files.
    """
    counts = {text.path: Counter(row[:1] for row in text.text.split("\n")[2:]) for text in texts}
    for path, one, other in pair.differing():
        if one is None and other is not None:
            lines, reason = f"{other.lines_after:,}", _newly_kept(pair, path)
        elif one is not None and other is None:
            lines, reason = f"{one.lines_after:,}", _newly_removed(pair, path)
        else:
            count = counts.get(path, Counter())
            lines, reason = f"+{count['+']} -{count['-']}", _changed(pair, path)
        yield Row(
            path,
            fate(one, other),
            after=lines,
            path=path,
            reason=reason,
            commits=pair.commits(path),
        )


def _changed(pair: Pair, path: str) -> Reason:
    """Return why a file of both trees differs: by upstream, or by what was decided in it."""
    if pair.new.has_upstream(path) is False:
        return _OWN
    if pair.upstream_changed(path):
        return Reason("upstream")
    if not pair.reported:
        return _UNKNOWN
    before, after = (
        Counter(row[1] for row in side.graph["decisions"].get(path, ()))
        for side in (pair.old, pair.new)
    )
    rows = [
        f"{rule} {before[rule]} → {after[rule]}"
        for rule in sorted(before | after)
        if before[rule] != after[rule]
    ]
    by_rule = f"decisions by rule: {', '.join(some(rows, 6))}"
    return Reason(
        "reach",
        by_rule if rows else "what the rest of the tree names of it differs: see the symbols",
    )


def commit_rows(pair: Pair) -> Iterator[Row]:
    """Commits that touched a file of one of the trees, the newest first; with how many they
    touched.
    """
    known = pair.old.files.keys() | pair.new.files.keys()
    rows = (
        (told.number or told.hash[:10], told.subject, len(known.intersection(told.paths)))
        for told in pair.told
    )
    return (Row(name, "commit", subject, f"{count:,}") for name, subject, count in rows if count)


def _newly_kept(pair: Pair, path: str) -> Reason:
    before, after = pair.there(path)
    if after is False:
        return _OWN
    steps = pair.new.chain(path)
    if before is False:
        reason = pair.turned(steps) if steps and pair.old.graph else Reason()
        same = _same_content(pair.old, pair.new.upstream_hash(path))
        what = f"moved it here from {same}" if same else "added it"
        return Reason(
            "upstream",
            f"upstream {what}" + (f"; {reason.text}" if reason.text else ""),
            reason.chain,
        )
    if not pair.reported:
        return _UNKNOWN
    rule, text = pair.old.graph["removed"].get(path, [UNREACHABLE, ""])
    found = pair.turned(steps)
    if rule != UNREACHABLE and rule in pair.moved_rules:
        return Reason("rule", f"rule {rule}, which removed it, changed", found.chain)
    if path in pair.new.rescued:
        return _rescued(pair, path, found)
    was = (
        f"rule {rule} removed it before ({text})"
        if rule != UNREACHABLE
        else "nothing kept needed it before"
    )
    return Reason(found.cause, f"{was}; {found.text}", found.chain)


def _rescued(pair: Pair, path: str, found: Reason) -> Reason:
    """A rule took the file before and takes it now; something that runs needs it since."""
    text = pair.new.rescued[path]
    needs = place[1] if (place := _PLACE.search(text)) else ""
    if pair.upstream_changed(needs) and not pair.moved_rules:
        return Reason(
            "upstream", f"{text}; upstream changed that file{pair.by(needs)}", found.chain
        )
    return Reason(found.cause if found.cause != "upstream" else "reach", text, found.chain)


def _newly_removed(pair: Pair, path: str) -> Reason:
    before, after = pair.there(path)
    if before is False:
        return _OWN
    if after is False:
        moved = _same_content(pair.new, pair.old.upstream_hash(path))
        kept = "" if moved in pair.new.files else ", which the new tree does not keep"
        return Reason(
            "upstream", f"upstream moved it to {moved}{kept}" if moved else "upstream removed it"
        )
    if not pair.reported:
        return _UNKNOWN
    rule, text = pair.new.graph["removed"].get(path, [UNREACHABLE, ""])
    found = pair.turned(pair.old.chain(path), gone=True)
    if rule == UNREACHABLE:
        return found
    cause, why = pair.rule_cause(rule)
    if cause == "reach":
        # The rule took it before, too, and something held it back then: a rescue, or the name it
        # has.
        cause, why = "upstream", f"rule {rule} takes it now; something that runs needed it before"
    return Reason(cause, f"{why}: {text}", found.chain)


def _same_content(side: Side, sha256: str | None) -> str:
    """Return path of upstream's file with this content; empty when there is none, or it is an empty
    file's.
    """
    if side.upstream is None or sha256 is None:
        return ""
    found = [file.path for file in side.upstream.files if file.sha256 == sha256 and file.size > 100]
    return found[0] if len(found) == 1 else ""


def symbol_changes(pair: Pair) -> Iterator[Row]:
    """Yield symbols newly kept and newly removed, in files of both trees."""
    before, after = pair.old.symbols, pair.new.symbols
    if before is None or after is None:
        return
    old, new = _numbers(before), _numbers(after)
    was = {name: number for name, number in old.items() if before.units[number].live}
    now = {name: number for name, number in new.items() if after.units[number].live}
    both = pair.old.files.keys() & pair.new.files.keys()
    kept = {name: n for name, n in now.items() if name not in was and after.path(n) in both}
    gone = {name: n for name, n in was.items() if name not in now and before.path(n) in both}
    appeared = {
        name.rpartition(".")[2]: name for name, n in kept.items() if after.units[n].kind != "member"
    }
    dropped, lost = ({row.symbol: row for row in symbols.dropped()} for symbols in (after, before))
    for row, steps in _outermost(pair, pair.new, after, kept, "added"):
        reason = pair.turned(steps)
        if row.subject in old or row.subject in lost or pair.old.line_of(row.path, row.subject):
            reason = replace(reason, text=f"was there and removed; {reason.text}")
        else:
            reason = Reason("upstream", f"upstream added it{pair.by(row.path)}", reason.chain)
        yield replace(row, reason=reason)
    for row, steps in _outermost(pair, pair.old, before, gone, "removed"):
        drop = dropped.get(row.subject)
        if drop is not None and pair.is_rule(drop.rule):
            cause, why = pair.rule_cause(drop.rule)
            if cause == "reach" and pair.upstream_changed(row.path):
                cause = "upstream"
            reason = Reason(cause, f"{why}: {drop.reason}", tuple(map(str, steps)))
        elif row.subject in new or drop is not None or pair.new.line_of(row.path, row.subject):
            reason = pair.turned(steps, gone=True)
        else:
            other = "" if row.before == "member" else appeared.get(row.subject.rpartition(".")[2])
            where = f"; {other} is new" if other else ""
            reason = Reason("upstream", f"upstream removed it{pair.by(row.path)}{where}")
        yield replace(row, reason=reason)


def _numbers(symbols: Symbols) -> dict[str, int]:
    """Numbers of named definitions; of several of one name the live one."""
    found: dict[str, int] = {}
    for number, unit in enumerate(symbols.units):
        named = unit.kind in DEFINITIONS and not unit.name.rpartition(".")[2].isdigit()
        if named and (unit.live or unit.name not in found):
            found[unit.name] = number
    return found


def _outermost(
    pair: Pair, side: Side, symbols: Symbols, among: Mapping[str, int], fate: str
) -> Iterator[tuple[Row, Sequence[Edge]]]:
    """Yield those whose class is not among them, their reasons to be told, each with the best chain
    to it.
    """
    for name, number in among.items():
        unit, path = symbols.units[number], symbols.path(number)
        if unit.owner >= 0 and symbols.units[unit.owner].name in among:
            continue
        members = (
            sum(other.startswith(f"{name}.") for other in among) if unit.kind == "class" else 0
        )
        kind = f"{unit.kind}, with {members} members" if members else unit.kind
        line = side.line_of(path, name, generated=True)
        row = Row(name, fate, kind, "", path, line, unit.line, commits=pair.commits(path))
        yield row, symbols.explain(number)[0].steps


def text_changes(pair: Pair) -> Iterator[TextChange]:
    """Diffs of all files that differ, sorted by path; nothing when one of the trees is not
    there.
    """
    if pair.old.folder is None or pair.new.folder is None:
        return
    for path, one, other in pair.differing():
        names = (
            f"a/{path}" if one is not None else "/dev/null",
            f"b/{path}" if other is not None else "/dev/null",
        )
        text = _difference(pair.old.read(path), pair.new.read(path))
        yield TextChange(path, f"--- {names[0]}\n+++ {names[1]}\n{text}")


def _difference(before: bytes, after: bytes) -> str:
    if b"\0" in before[:8192] or b"\0" in after[:8192]:
        return f"Binary files differ: {len(before):,} and {len(after):,} bytes\n"
    old, new = _lines(before), _lines(after)
    if max(len(old), len(new)) > _MOST_LINES:
        return f"Too long to compare: {len(old):,} and {len(new):,} lines\n"
    return "".join(_hunks(old, new))


def _lines(data: bytes) -> list[str]:
    rows = data.decode("utf-8", "replace").split("\n")
    last = [f"{rows[-1]}\n\\ No newline at end of file\n"] if rows[-1] else []
    return [*(f"{row}\n" for row in rows[:-1]), *last]


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    """Hunks of a unified diff.

    What both begin and end with is set aside first: `difflib` takes quadratic time.
    """
    start = sum(takewhile(bool, map(eq, old, new)))
    end = sum(takewhile(bool, map(eq, old[start:][::-1], new[start:][::-1])))
    low, high = max(0, start - _CONTEXT), max(0, end - _CONTEXT)
    rows = difflib.unified_diff(old[low : len(old) - high], new[low : len(new) - high], n=_CONTEXT)
    # Behind the names of files, which are written already.
    for row in islice(rows, 2, None):
        yield _FIRST.sub(lambda line: str(int(line[0]) + low), row) if row.startswith("@@") else row
