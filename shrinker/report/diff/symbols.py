"""Definitions that only one tree has, in files that both have."""

from collections.abc import Iterable, Mapping

from shrinker.program.symbols.units import DEFINITIONS
from shrinker.program.symbols.why import Symbols
from shrinker.report.diff.difference import Pair
from shrinker.report.diff.side import Side
from shrinker.report.diff.values import Reason, Row
from shrinker.values.graph import Edge


def moved_symbols(pair: Pair) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """Symbols newly kept and newly removed; what upstream did not touch comes first."""
    before, after = pair.old.symbols, pair.new.symbols
    if before is None or after is None:
        return (), ()
    old, new = _numbers(before), _numbers(after)
    was, now = _live(before, old), _live(after, new)
    both = pair.old.files.keys() & pair.new.files.keys()
    kept = {name: n for name, n in now.items() if name not in was and after.path(n) in both}
    gone = {name: n for name, n in was.items() if name not in now and before.path(n) in both}
    appeared = {name.rpartition(".")[2]: name for name, n in kept.items() if after.units[n].kind != "member"}
    dropped, lost = ({row.symbol: row for row in symbols.dropped()} for symbols in (after, before))
    newly, away = list[Row](), list[Row]()
    for name, number in _outermost(after, kept):
        path = after.path(number)
        reason = pair.reached(_steps(after, number))
        if name in old or name in lost or pair.old.line_of(path, name):
            reason = Reason(reason.cause, f"was there and removed; {reason.text}", reason.chain)
        else:
            reason = Reason("upstream", f"upstream added it{pair.by(path)}", reason.chain)
        newly.append(_row(pair, pair.new, after, kept, name, "added", reason))
    for name, number in _outermost(before, gone):
        path, steps = before.path(number), _steps(before, number)
        if name in dropped and pair.is_rule(dropped[name].rule):
            row = dropped[name]
            cause, why = pair.rule_cause(row.rule)
            if cause == "reach" and pair.upstream_changed(path):
                cause = "upstream"
            reason = Reason(cause, f"{why}: {row.reason}", tuple(map(str, steps)))
        elif name in new or name in dropped or pair.new.line_of(path, name):
            reason = pair.unreached(steps)
        else:
            other = appeared.get(name.rpartition(".")[2], "") if before.units[number].kind != "member" else ""
            where = f"; {other} is new" if other else ""
            reason = Reason("upstream", f"upstream removed it{pair.by(path)}{where}")
        away.append(_row(pair, pair.old, before, gone, name, "removed", reason))
    return _sorted(newly), _sorted(away)


def _numbers(symbols: Symbols) -> dict[str, int]:
    """Numbers of named definitions; of several of one name the live one."""
    found: dict[str, int] = {}
    for number, unit in enumerate(symbols.units):
        named = unit.kind in DEFINITIONS and not unit.name.rpartition(".")[2].isdigit()
        if named and (unit.live or unit.name not in found):
            found[unit.name] = number
    return found


def _live(symbols: Symbols, numbers: Mapping[str, int]) -> dict[str, int]:
    return {name: number for name, number in numbers.items() if symbols.units[number].live}


def _outermost(symbols: Symbols, among: Mapping[str, int]) -> list[tuple[str, int]]:
    """Those whose class is not among them."""
    owners = {name: symbols.units[number].owner for name, number in among.items()}
    inside = {name for name, owner in owners.items() if owner >= 0 and symbols.units[owner].name in among}
    return [(name, number) for name, number in among.items() if name not in inside]


def _row(
    pair: Pair, side: Side, symbols: Symbols, among: Mapping[str, int], name: str, fate: str, reason: Reason
) -> Row:
    unit, path = symbols.units[among[name]], symbols.path(among[name])
    members = sum(other.startswith(f"{name}.") for other in among) if unit.kind == "class" else 0
    kind = f"{unit.kind}, with {members} members" if members else unit.kind
    line = side.line_of(path, name, generated=True)
    return Row(name, fate, kind, "", path, line, unit.line, reason, pair.commits(path))


def _steps(symbols: Symbols, number: int) -> tuple[Edge, ...]:
    chains = symbols.explain(number)
    return chains[0].steps if chains else ()


def _sorted(rows: Iterable[Row]) -> tuple[Row, ...]:
    order = ("rule", "reach", "unknown", "upstream")
    return tuple(sorted(rows, key=lambda row: (order.index(row.reason.cause), row.path, row.upstream)))
