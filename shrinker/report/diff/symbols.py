"""Definitions that only one tree has, in files that both have."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from shrinker.program.symbols.units import DEFINITIONS
from shrinker.program.symbols.why import Symbols
from shrinker.report.diff.difference import Pair, shown
from shrinker.report.diff.side import Side
from shrinker.report.diff.values import Reason, Row
from shrinker.syntax.parsing import parsed
from shrinker.values.answers import Step
from shrinker.values.upstream import module_name


@dataclass(frozen=True, slots=True)
class _Unit:
    number: int
    kind: str
    path: str
    line: int
    owner: str
    live: bool


def moved_symbols(pair: Pair) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """Symbols newly kept and newly removed; what upstream did not touch comes first."""
    if pair.old.symbols is None or pair.new.symbols is None:
        return (), ()
    old, new = _units(pair.old.symbols), _units(pair.new.symbols)
    both = pair.old.files.keys() & pair.new.files.keys()
    text = _Definitions()
    kept = {n: u for n, u in new.items() if u.live and u.path in both and not (n in old and old[n].live)}
    gone = {n: u for n, u in old.items() if u.live and u.path in both and not (n in new and new[n].live)}
    appeared = {name.rpartition(".")[2]: name for name in kept if "." in name and kept[name].kind != "member"}
    dropped = {row.symbol: row for row in pair.new.symbols.dropped()}
    lost = {row.symbol: row for row in pair.old.symbols.dropped()}

    def move(name: str, unit: _Unit, among: Iterable[str], reason: Reason) -> Row:
        members = sum(other.startswith(f"{name}.") for other in among) if unit.kind == "class" else 0
        kind = f"{unit.kind}, with {members} members" if members else unit.kind
        generated = text.line(pair.old if among is gone else pair.new, unit.path, name, generated=True)
        fate = "removed" if among is gone else "added"
        return Row(name, fate, kind, "", unit.path, generated, unit.line, reason, pair.commits(unit.path))

    newly = [
        move(name, unit, kept, _newly_kept(pair, name, unit, name in old or name in lost, text))
        for name, unit in kept.items()
        if unit.owner not in kept
    ]
    away: list[Row] = []
    for name, unit in gone.items():
        if unit.owner in gone:
            continue
        if name in dropped and pair.is_rule(dropped[name].rule):
            row = dropped[name]
            cause, why = pair.rule_cause(row.rule)
            if cause == "reach" and pair.upstream_changed(unit.path):
                cause = "upstream"
            steps = _steps(pair.old.symbols, unit.number)
            reason = Reason(cause, f"{why}: {row.reason}", shown(steps))
        elif name in new or name in dropped or text.line(pair.new, unit.path, name):
            reason = pair.unreached(_steps(pair.old.symbols, unit.number))
        else:
            other = appeared.get(name.rpartition(".")[2], "") if unit.kind != "member" else ""
            where = f"; {other} is new" if other else ""
            reason = Reason("upstream", f"upstream removed it{pair.by(unit.path)}{where}")
        away.append(move(name, unit, gone, reason))
    return _sorted(newly), _sorted(away)


def _units(symbols: Symbols) -> dict[str, _Unit]:
    """Named definitions; of several of one name the live one."""
    found: dict[str, _Unit] = {}
    names: dict[int, str] = {}
    for number, unit in enumerate(symbols.units):
        if unit.kind not in DEFINITIONS or unit.name.rpartition(".")[2].isdigit():
            continue
        names[number] = unit.name
        if unit.live or unit.name not in found:
            place = symbols.path(number), unit.line
            found[unit.name] = _Unit(number, unit.kind, *place, names.get(unit.owner, ""), unit.live)
    return found


def _newly_kept(pair: Pair, name: str, unit: _Unit, known: bool, text: _Definitions) -> Reason:
    assert pair.old.symbols is not None and pair.new.symbols is not None, "looked at before"
    steps = _steps(pair.new.symbols, unit.number)
    reached = pair.reached(steps)
    if known or text.line(pair.old, unit.path, name):
        return Reason(reached.cause, f"was there and removed; {reached.text}", reached.chain)
    return Reason("upstream", f"upstream added it{pair.by(unit.path)}", reached.chain)


def _steps(symbols: Symbols, number: int) -> tuple[Step, ...]:
    chains = symbols.explain(number)
    return chains[0].steps if chains else ()


def _sorted(rows: Iterable[Row]) -> tuple[Row, ...]:
    order = ("rule", "reach", "unknown", "upstream")
    return tuple(sorted(rows, key=lambda row: (order.index(row.reason.cause), row.path, row.upstream)))


class _Definitions:
    """What the texts of files define, each read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str, bool], dict[str, int]] = {}

    def line(self, side: Side, path: str, name: str, *, generated: bool = False) -> int:
        """Where upstream's file of a side, or the generated one, defines the dotted name, folded or not; 0 where it does not, or cannot be read."""
        key = (id(side), path, generated)
        if key not in self._known:
            tree = parsed(side.read(path) if generated else side.read_upstream(path))
            self._known[key] = dict(_defined(tree.body, "")) if tree is not None else {}
        module = module_name(path) or path.removesuffix(".py").replace("/", ".")
        return self._known[key].get(name.removeprefix(f"{module}."), 0)


def _defined(body: Iterable[ast.AST], owner: str) -> Iterator[tuple[str, int]]:
    for node in body:
        match node:
            case ast.ClassDef():
                yield owner + node.name, node.lineno
                yield from _defined(node.body, f"{owner}{node.name}.")
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield owner + node.name, node.lineno
            case ast.Assign():
                for target in node.targets:
                    yield from ((owner + n.id, n.lineno) for n in ast.walk(target) if isinstance(n, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield owner + name, node.lineno
            case ast.If() | ast.Try() | ast.With():
                for field in ("body", "handlers", "orelse", "finalbody"):
                    for part in getattr(node, field, ()):
                        yield from _defined(part.body if isinstance(part, ast.ExceptHandler) else [part], owner)
