"""What one file of upstream takes from outside, and where it keeps it: fields that a command line
or a request fills, the enumerations that are made of them, environment variables, and names that
are computed from any of these.

Only what the file itself writes is read; `enforced` puts the files together.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from shrinker.ruleset.match import any_name_matches
from shrinker.ruleset.models import Entry
from shrinker.syntax.names import last_name
from shrinker.syntax.parsing import parsed
from shrinker.syntax.walk import Function, children, statements, walk
from shrinker.values.upstream import module_name

_SHORT = 15
"""Lines of a function that is read as one answer."""
_ASKS = re.compile(r"_*(?:is|has|use|uses|should|can|enable|enables|supports?|needs?)_\w+")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{3,}")
_NOTED = (
    ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.keyword | ast.Call | ast.Attribute | ast.For
)
"""What `_Reader._note` looks at."""
_LISTED = ast.Name | ast.List | ast.Tuple | ast.Set | ast.Dict
_NO = frozenset({"", "0", "false", "no", "none", "off"})
_SWITCHES = frozenset({"0", "1", "false", "true"})
_FLAG, _VARIABLE_OF, _CALL = "flag", "variable", "call"


@dataclass(frozen=True, slots=True)
class Asked:
    """An enumeration of texts."""

    name: str
    texts: tuple[tuple[str, str], ...]
    """Member and its text; the member's own name where it has none."""
    asks: tuple[tuple[str, tuple[str, ...]], ...]
    """Method and the members for which it gives true."""
    any_case: bool
    """It is made of a text in any case."""


class Choices(NamedTuple):
    """What may be chosen, as far as the syntax tells; nothing where any text may be."""

    texts: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    """Names of lists of which each text is a choice, too."""


@dataclass(slots=True)
class Entered:
    """What was read of one file."""

    module: str = ""
    fields: list[tuple[str, str, Choices, int]] = field(default_factory=list)
    """Class, field, its choices, and line."""
    offered: dict[str, Choices] = field(default_factory=dict)
    """Choices of what a parser adds, by the field that it fills: the command line of releases whose
    fields name none.
    """
    lists: dict[str, Choices] = field(default_factory=dict)
    """What lists of the module offer, by their names."""
    enumerations: list[Asked] = field(default_factory=list)
    made: set[tuple[str, str]] = field(default_factory=set)
    """Last name of a class and the flag that its objects are made of."""
    gives: set[tuple[str, str]] = field(default_factory=set)
    """Function and the last name of the class that it says it gives."""
    sources: set[tuple[str, str, str]] = field(default_factory=set)
    """Name, and kind (flag, variable, call) and name of what it is computed from."""
    reads: set[str] = field(default_factory=set)
    """Flags that are read of what holds them, or looked up by a text."""
    variables: set[tuple[str, str, bool]] = field(default_factory=set)
    """Environment variable, how it is declared or read, and whether its default means yes."""


def read_entered(root: Path, entries: tuple[Entry, ...], path: str) -> Entered:
    """Read one file; nothing of one that is no Python."""
    tree, module = parsed((root / path).read_bytes(), path), module_name(path)
    if tree is None or module is None:
        return Entered()
    reader = _Reader(tree, module, entries)
    reader.block(tree.body)
    return reader.found


class _Reader:
    def __init__(self, tree: ast.Module, module: str, entries: tuple[Entry, ...]) -> None:
        self.found = Entered(module)
        self._entries = entries
        self._held = frozenset(
            name for entry in entries if entry.kind == "flag" for name in entry.held
        )
        self._own = False
        self._local: dict[str, ast.expr] = {}
        """What names of the function are bound to first."""
        for node in tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if isinstance(
                    value, _LISTED
                ):
                    self.found.lists[name] = _chosen(value)

    def block(self, body: Iterable[ast.AST]) -> None:
        for node in body:
            around = self._own, self._local
            if isinstance(node, ast.ClassDef):
                self._class(node)
            elif isinstance(node, Function):
                self._function(node)
            elif isinstance(node, _NOTED):
                self._note(node)
            self.block(children(node))
            self._own, self._local = around

    def _class(self, node: ast.ClassDef) -> None:
        whole = f"{self.found.module}.{node.name}"
        kinds = {entry.kind for entry in self._entries if any_name_matches(entry.classes, whole)}
        if kinds:
            for each in node.body:
                if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                    choices = _chosen(*_offered(each.annotation))
                    self.found.fields.append((whole, each.target.id, choices, each.lineno))
        if any("Enum" in last_name(base) for base in node.bases):
            self.found.enumerations.append(_enumeration(node))
        self._own, self._local = self._own or "flag" in kinds, {}

    def _function(self, node: Function) -> None:
        if node.returns is not None and last_name(node.returns)[:1].isupper():
            self.found.gives.add((node.name, last_name(node.returns)))
        assigned = sorted(
            (n for n in statements(node) if isinstance(n, ast.Assign)), key=lambda n: -n.lineno
        )
        self._local = {
            n.targets[0].id: n.value for n in assigned if isinstance(n.targets[0], ast.Name)
        }
        if (node.end_lineno or node.lineno) - node.body[0].lineno < _SHORT:
            self._computed(node.name, node.body)

    def _note(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for name in map(last_name, targets):
                    self._computed(name, [value])
                    # ``SGLANG_X = EnvBool(True)``
                    args, how = (
                        (value.args, last_name(value.func))
                        if isinstance(value, ast.Call)
                        else ([], "")
                    )
                    if args and how.startswith("Env") and _VARIABLE.fullmatch(name):
                        self.found.variables.add((name, how, _said(args[0]) not in _NO))
            case (
                ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.NamedExpr(target=target, value=value)
            ):
                self._computed(last_name(target), [value])
            case ast.keyword(arg=str(name), value=value):
                self._computed(name, [value])
            case ast.Call(
                func=ast.Attribute(attr="add_argument"), args=[ast.Constant(value=str(text)), *_]
            ):
                if chosen := [key.value for key in node.keywords if key.arg == "choices"]:
                    self.found.offered[text.lstrip("-").replace("-", "_")] = _chosen(*chosen)
            case ast.Call(func=func, args=[first, *rest]):
                if isinstance(first, ast.Constant) and (variable := _asked_variable(node)):
                    default, how = _said(rest[0]) if rest else "none", last_name(func)
                    how = (
                        "EnvText" if how in {"get", "getenv"} and default not in _SWITCHES else how
                    )
                    self.found.variables.add(
                        (variable, how, how != "EnvText" and default not in _NO)
                    )
                made = last_name(func.value if isinstance(func, ast.Attribute) else func)
                given = self._local.get(first.id, first) if isinstance(first, ast.Name) else first
                if made[:1].isupper():
                    self.found.made.update(
                        (made, name) for kind, name in self._leaves(given) if kind == _FLAG
                    )
                if last_name(func) in {"getattr", "hasattr"} and rest:
                    self.found.reads.update(_texts(rest[0]))
            case ast.Attribute(attr=name, ctx=ast.Load()) if self._holds(node.value):
                self.found.reads.add(name)
            case ast.For(iter=ast.List() | ast.Tuple() as rows):
                # What a loop looks up by a name of a list.
                self.found.reads.update(text for row in rows.elts for text in _texts(row))

    def _holds(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name) and node.id not in self._held:
            node = self._local.get(node.id, node)
        name = last_name(node.func) + "()" if isinstance(node, ast.Call) else last_name(node)
        return name in self._held or (self._own and name in {"self", "cls"})

    def _computed(self, name: str, parts: Iterable[ast.AST]) -> None:
        if name:
            self.found.sources.update(
                (name, kind, leaf) for part in parts for kind, leaf in self._leaves(part)
            )

    def _leaves(self, node: ast.AST) -> Iterator[tuple[str, str]]:
        for each in walk(node):
            called = last_name(each.func) if isinstance(each, ast.Call) else ""
            match each:
                case ast.Attribute(value=value, attr=name) if self._holds(value):
                    yield _FLAG, name
                case ast.Call(args=[on, ast.Constant(str(text)), *_]) if (
                    called == "getattr" and self._holds(on)
                ):
                    yield _FLAG, text
                case ast.Call() if variable := _asked_variable(each):
                    yield _VARIABLE_OF, variable
                case ast.Call() if _ASKS.fullmatch(called):
                    yield _CALL, called


def _offered(annotation: ast.expr) -> Iterator[ast.expr]:
    for each in walk(annotation):
        match each:
            case (
                ast.keyword(arg="choices", value=chosen)
                | ast.Subscript(value=ast.Name(id="Literal"), slice=chosen)
            ):
                yield chosen


def _chosen(*nodes: ast.expr) -> Choices:
    parts = [part for node in nodes for part in walk(node)]
    names = {part.id for part in parts if isinstance(part, ast.Name)} - {
        "list",
        "sorted",
        "tuple",
        "set",
    }
    return Choices(
        tuple(sorted({text for part in parts for text in _texts(part)})), tuple(sorted(names))
    )


def _enumeration(node: ast.ClassDef) -> Asked:
    texts: dict[str, str] = {}
    asks: dict[str, tuple[str, ...]] = {}
    for each in node.body:
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                texts[name] = next(_texts(value), name)
            case ast.FunctionDef(
                name=name, body=[*_, ast.Return(ast.Compare(ast.Name("self"), [op], [right]))]
            ):
                named = {
                    last_name(n) for n in walk(right) if isinstance(n, ast.Attribute)
                } & texts.keys()
                if isinstance(op, ast.NotEq | ast.IsNot | ast.NotIn):
                    named = texts.keys() - named
                asks[name] = tuple(sorted(named))
    upper = any(isinstance(n, ast.Attribute) and n.attr in {"upper", "lower"} for n in walk(node))
    return Asked(node.name, tuple(texts.items()), tuple(asks.items()), upper)


def _asked_variable(node: ast.Call) -> str:
    """Return the environment variable that a call reads; empty for none."""
    match node:
        case ast.Call(func=ast.Attribute(attr="get", value=ast.Attribute(attr=name))) if (
            _VARIABLE.fullmatch(name)
        ):
            return name
        case ast.Call(args=[ast.Constant(value=str(text)), *_]) if _VARIABLE.fullmatch(text):
            return text if "env" in ast.unparse(node.func).lower() else ""
    return ""


def _said(default: ast.expr) -> str:
    """Return a default in small letters; nothing of one that is computed."""
    return str(default.value).lower() if isinstance(default, ast.Constant) else ""


def _texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
