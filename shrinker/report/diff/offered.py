"""What people see of the server: flags, endpoints, and the fields of what they send and get back."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from shrinker.program.interface.endpoints import WORDS as ENDPOINTS
from shrinker.program.interface.endpoints import Endpoint, read_endpoints
from shrinker.program.interface.flags import WORDS as FLAGS
from shrinker.program.interface.flags import Flag, read_flags
from shrinker.program.interface.syntax import Syntax
from shrinker.report.diff.difference import Pair, fate, some
from shrinker.report.diff.side import Side
from shrinker.report.diff.values import Reason, Row
from shrinker.syntax.names import last_name
from shrinker.values.upstream import module_name

_MODELS = re.compile(rb"\bBaseModel\b")
_ROOT = "BaseModel"


def offered_changes(pair: Pair) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """Changes of flags, and of endpoints with the fields of their models; nothing when a tree is not there."""
    if pair.old.folder is None or pair.new.folder is None:
        return (), ()
    old, new = _Offered(pair.old), _Offered(pair.new)
    flags = _moved(_compare(old.flags, new.flags, _flag_change, pair))
    endpoints = _compare(old.endpoints, new.endpoints, lambda *_: None, pair)
    fields = _compare(old.fields, new.fields, lambda one, other: (one, other) if one != other else None, pair)
    return tuple(flags), (*endpoints, *fields)


class _Offered:
    """Of one tree, each by a key that the same thing has in the other."""

    def __init__(self, side: Side) -> None:
        modules = {name: path for path in side.files if (name := module_name(path)) is not None}
        self._modules = modules
        syntax = Syntax(modules, side.read)
        with_flags, with_endpoints, with_models = syntax.matching(FLAGS, ENDPOINTS, _MODELS)
        self.flags = self._placed(
            (("flag", f.module, f.owner, f.names[0]), f, f.line) for f in read_flags(syntax, with_flags)
        )
        self.endpoints = self._placed(
            (("endpoint", e.module, e.method, e.path or e.environment), e, e.line)
            for e in read_endpoints(syntax, with_endpoints)
        )
        trees = {module: tree for module in with_models if (tree := syntax.tree(module)) is not None}
        self.fields = self._placed((("field", *names), text, line) for *names, text, line in _fields(trees))

    def _placed(self, rows: Iterable[tuple[tuple[str, ...], Any, int]]) -> _Rows:
        """Each thing with its place; its key names what it is and its module first."""
        found: _Rows = {}
        for key, what, line in rows:
            found.setdefault(key, (what, self._modules[key[1]], line))
        return found


_Rows = dict[tuple[str, ...], tuple[Any, str, int]]
_Compare = Callable[[Any, Any], tuple[str, str] | None]


def _compare(old: _Rows, new: _Rows, changed: _Compare, pair: Pair) -> Iterator[Row]:
    for key in sorted(old.keys() | new.keys()):
        subject = f"{key[2]} {key[3]}" if key[0] == "endpoint" else ".".join(key[2:]) if key[0] == "field" else key[3]
        kind = fate(key in old, key in new)
        what, path, line = new.get(key) or old[key]
        alone = {"removed": (_said(what), ""), "added": ("", _said(what))}
        texts = alone[kind] if kind in alone else changed(old[key][0], what)
        if texts is not None:
            yield Row(subject, kind, *texts, path, line, reason=_why(pair, path, key, removed=kind == "removed"))


def _moved(changes: Iterable[Row]) -> Iterator[Row]:
    """The changes, flags that one module lost and another got told in one row."""
    rows = list(changes)
    gone: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.kind == "removed":
            gone.setdefault((row.subject, row.before), []).append(row)
    pairs: dict[tuple[str, str], list[str]] = {}
    told: set[int] = set()
    for row in rows:
        if row.kind == "added" and (same := gone.get((row.subject, row.after))):
            other = same.pop(0)
            told |= {id(row), id(other)}
            pairs.setdefault((other.path, row.path), []).append(row.subject)
    for (before, after), names in sorted(pairs.items()):
        yield Row(some(names), "moved", before, after, after, reason=Reason("reach", f"{len(names)} as they were"))
    yield from (row for row in rows if id(row) not in told)


def _said(what: object) -> str:
    if isinstance(what, Flag):
        return f"default {what.default}" if what.default else ""
    return "" if isinstance(what, Endpoint) else str(what)


def _flag_change(old: Flag, new: Flag) -> tuple[str, str] | None:
    """The parts that differ."""
    before: list[str] = []
    after: list[str] = []
    rows = [("default", old.default, new.default), ("", ", ".join(old.names[1:]), ", ".join(new.names[1:]))]
    if old.choices is not None and new.choices is not None:
        one, other = [c.text for c in old.choices], [c.text for c in new.choices]
        gone, come = ([c for c in some if c not in others] for some, others in ((one, other), (other, one)))
        if gone or come:
            rows.append(("choices", " ".join(gone) or "(the same)", " ".join(come) or "(the same)"))
    else:
        rows.append(("choices", old.choices_text, new.choices_text))
    rows.append(("", old.rest, new.rest))
    for label, one_text, other_text in rows:
        if one_text != other_text:
            before.append(f"{label} {one_text}".strip())
            after.append(f"{label} {other_text}".strip())
    return ("; ".join(before), "; ".join(after)) if before or after else None


def _why(pair: Pair, path: str, key: tuple[str, ...], *, removed: bool) -> Reason:
    """The rule that took it, where the side's own interface report tells; else whether upstream changed the file."""
    report = (pair.new if removed else pair.old).report("interface.json") or {}
    name = f"{key[2]} {key[3]}" if key[0] == "endpoint" else key[3]
    rows = [*report.get("flags", ()), *report.get("endpoints", ())]
    rule = next((row["rule"] for row in rows if row["subject"] == name and row["path"] == path), "")
    if rule and removed:
        return Reason("rule", f"rule {rule} takes it")
    if rule and key[0] != "flag":
        return Reason("rule", f"rule {rule} took it before")
    return pair.changed_by(path)


def _fields(trees: dict[str, ast.Module]) -> Iterator[tuple[str, str, str, str, int]]:
    """Fields of classes that derive from pydantic's, by the names of their bases: module, class, field, text, line."""
    classes = {n.name: n for tree in trees.values() for n in tree.body if isinstance(n, ast.ClassDef)}
    models = {_ROOT}
    grown = True
    while grown:
        more = {
            name for name, node in classes.items() if name not in models and models & set(map(last_name, node.bases))
        }
        grown = bool(more)
        models |= more
    for module, tree in sorted(trees.items()):
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name in models:
                for row in node.body:
                    if isinstance(row, ast.AnnAssign) and isinstance(row.target, ast.Name):
                        text = ast.unparse(row.annotation) + (f" = {ast.unparse(row.value)}" if row.value else "")
                        yield module, node.name, row.target.id, text, row.lineno
