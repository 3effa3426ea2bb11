"""What a folded module still names: imports, strings that may be paths, calls whose target is computed."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from shrinker.facts.bindings import absolute
from shrinker.facts.scopes import catches_import_error, is_type_checking
from shrinker.facts.walk import children, walk
from shrinker.fold.harvest import OWN_ERROR, Harvest
from shrinker.values.edits import Span
from shrinker.values.folded import DynamicSite, ImportSite, StringSite
from shrinker.values.usage import Usage

_PATH_LIKE = re.compile(r"^[\w*./:\-=,\[\]{} +]{2,160}$")
_FILE_LIKE = re.compile(
    r"\.(?:py|json|ya?ml|jinja2?|txt|proto|toml|cfg|ini|cu|cuh|h|hpp|hxx|inc|cc|cxx|cpp|c|so|pyi|sh|js|html|css|metal|sample|model|csv|bin|pt|npz|md|rs|jsonl)$"
)
_DOTTED = re.compile(r"^[A-Za-z_*][\w*]*(?:\.[A-Za-z_*][\w*]*)+(?::[\w*.]+)?$")
_WORD = re.compile(r"^[\w\-*]{3,60}$")

_STRING_EXPRESSIONS = frozenset({ast.JoinedStr, ast.BinOp, ast.Call})

_MECHANISMS = {
    "iter_modules": "walk",
    "walk_packages": "walk",
    "import_module": "import_module",
    "__import__": "import_module",
    "entry_points": "entry_points",
    "spec_from_file_location": "spec_from_file",
}


@dataclass(frozen=True, slots=True)
class Summary:
    """See `FoldedModule` for the fields."""

    imports: tuple[ImportSite, ...]
    strings: tuple[StringSite, ...]
    dynamic: tuple[DynamicSite, ...]
    defines: tuple[tuple[str, int], ...]
    usage: Usage


def summarise(tree: ast.Module, package: str, lost: set[str], lost_own: set[str], literals: set[Span]) -> Summary:
    """Collect what the folded tree names, in source order.

    Args:
        tree: the folded tree.
        package: the package that relative imports start from.
        lost: words of the code that folding dropped.
        lost_own: attributes of `self` in that code.
        literals: where folding wrote a literal.
    """
    collector = _Collector(package)
    collector.body(tree.body, "import", False)
    return Summary(
        tuple(collector.imports),
        tuple(sorted(set(collector.strings), key=lambda s: (s.line, s.text))),
        tuple(collector.dynamic),
        tuple(_defines(tree.body)),
        collector.harvest.finish(tree, package, lost, lost_own, literals),
    )


class _Collector:
    def __init__(self, package: str) -> None:
        self.package = package
        self.imports: list[ImportSite] = []
        self.strings: list[StringSite] = []
        self.dynamic: list[DynamicSite] = []
        self.harvest = Harvest()
        self._stored: ast.AST | None = None
        """The computed name of a `setattr`: nobody reads it there."""
        self._loops: dict[str, list[str] | None] = {}
        """Names of the loops at hand that run over texts."""

    def body(self, body: list[ast.stmt], kind: str, guarded: bool) -> None:
        for index, statement in enumerate(body):
            if index == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            self.statement(statement, kind, guarded)

    def statement(self, node: ast.stmt, kind: str, guarded: bool) -> None:
        match node:
            case ast.Import():
                self.imports.extend(ImportSite(node.lineno, a.name, None, kind, guarded) for a in node.names)
                for alias in node.names:
                    self.harvest.alias(alias, None)
                return
            case ast.ImportFrom():
                source = absolute(node.module, node.level, self.package)
                self.imports.extend(ImportSite(node.lineno, source, a.name, kind, guarded) for a in node.names)
                for alias in node.names:
                    self.harvest.alias(alias, source)
                return
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                inner = kind if kind == "import-type" else "import-local"
                with self.harvest.definition(node):
                    self.body(node.body, inner, guarded)
                    for part in (*node.decorator_list, node.args, node.returns):
                        if part is not None:
                            self.expression(part)
                return
            case ast.ClassDef():
                self.harvest.subclass_hook(node)
                with self.harvest.definition(node):
                    self.body(node.body, kind, guarded)
                    for clause in (*node.decorator_list, *node.bases, *node.keywords):
                        self.expression(clause)
                return
            case ast.Global() | ast.Nonlocal():
                self.harvest.outer(node.names)
                return
            case ast.Raise(exc=ast.Call(args=[ast.Constant(value=str() as text)])) if text.startswith(OWN_ERROR):
                return
            case ast.Assign(targets=[ast.Name(id="__all__")]) | ast.AugAssign(target=ast.Name(id="__all__")):
                self.exports(node.value)
                return
            case ast.If():
                self.expression(node.test)
                typing_only = is_type_checking(node.test)
                self.body(node.body, "import-type" if typing_only else kind, guarded)
                self.body(node.orelse, kind, guarded)
                return
            case ast.Try():
                caught = guarded or any(catches_import_error(h) for h in node.handlers)
                self.body(node.body, kind, caught)
                for handler in node.handlers:
                    self.body(handler.body, kind, guarded)
                self.body(node.orelse, kind, guarded)
                self.body(node.finalbody, kind, guarded)
                return
            case ast.Assign():
                for target in node.targets:
                    self.target(target, node.value)
                self.expression(node.value)
                return
            case ast.AnnAssign():
                self.target(node.target, node.value)
                self.expression(node.annotation)
                if node.value is not None:
                    self.expression(node.value)
                return
            case ast.For(target=ast.Name(id=name), iter=ast.Tuple(elts=items) | ast.List(elts=items)):
                texts = [i.value for i in items if isinstance(i, ast.Constant) and isinstance(i.value, str)]
                rebound = any(
                    isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
                    for s in node.body
                    for n in walk(s)
                )
                if len(texts) == len(items) and not rebound:
                    before = self._loops.get(name)
                    self._loops[name] = texts
                    self.expression(node.iter)
                    self.body(node.body, kind, guarded)
                    self._loops[name] = before
                    self.body(node.orelse, kind, guarded)
                    return
            case ast.AugAssign(target=ast.Attribute(attr=name)):
                # It reads before it writes.
                self.harvest.words.add(name)
        for item in children(node):
            if isinstance(item, ast.stmt):
                self.statement(item, kind, guarded)
            elif isinstance(item, ast.match_case):
                self.expression(item.pattern)
                if item.guard is not None:
                    self.expression(item.guard)
                self.body(item.body, kind, guarded)
            else:
                self.expression(item)

    def _spelled_out(self, node: ast.Call, name: str) -> bool:
        """``for key in ("a", "b"): setattr(x, f"_{key}", …)`` names what it sets."""
        match node.args[1]:
            case ast.JoinedStr(values=values):
                loops = [
                    self._loops.get(v.value.id)
                    for v in values
                    if isinstance(v, ast.FormattedValue) and isinstance(v.value, ast.Name)
                ]
                if len(loops) != 1 or loops[0] is None or sum(isinstance(v, ast.FormattedValue) for v in values) != 1:
                    return False
                pattern = _pattern(node.args[1])
                for text in loops[0] if pattern is not None else ():
                    self.harvest.call(node, name, str(pattern).replace("*", text))
                return pattern is not None
        return False

    def target(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Attribute):
            self.harvest.assignment(target, value)
            self.expression(target.value)
        else:
            self.expression(target)

    def expression(self, node: ast.AST) -> None:
        kind = node.__class__
        if kind is ast.Name:
            self.harvest.name(node)  # type: ignore[arg-type]
            return
        if kind is ast.Constant:
            if isinstance(node.value, str):  # type: ignore[attr-defined]
                self.harvest.text(node.value)  # type: ignore[attr-defined]
                self.string(node.lineno, node.value)  # type: ignore[attr-defined]
            return
        if kind is ast.Attribute:
            self.harvest.attribute(node)  # type: ignore[arg-type]
            self.expression(node.value)  # type: ignore[attr-defined]
            return
        pattern = _pattern(node) if kind in _STRING_EXPRESSIONS else None
        if pattern is not None and pattern != "*":
            self.string(getattr(node, "lineno", 0), pattern)
            if "*" in pattern and node is not self._stored:
                self.harvest.pattern(pattern)
        if isinstance(node, ast.JoinedStr):
            for part in node.values:
                if isinstance(part, ast.FormattedValue):
                    self.expression(part.value)
                elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                    self.harvest.text(part.value)
            return
        if isinstance(node, ast.MatchClass):
            self.harvest.words.update(node.kwd_attrs)
        if isinstance(node, ast.Call):
            self.call(node)
        for child in children(node):
            self.expression(child)

    def exports(self, value: ast.expr) -> None:
        """``__all__`` names nothing by itself: whether somebody asks for its names is another question."""
        if isinstance(value, ast.List | ast.Tuple):
            for item in value.elts:
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    self.string(item.lineno, item.value)
                else:
                    self.expression(item)
        else:
            self.expression(value)

    def string(self, line: int, text: str) -> None:
        if "#include" in text:
            # Source text of a kernel that is compiled at run time: its includes are files.
            self.strings.append(StringSite(line, text))
        elif _PATH_LIKE.match(text) and (
            "sglang." in text or _FILE_LIKE.search(text) or _DOTTED.match(text) or "/" in text or _WORD.match(text)
        ):
            self.strings.append(StringSite(line, text))

    def call(self, node: ast.Call) -> None:
        name = (
            node.func.attr
            if isinstance(node.func, ast.Attribute)
            else node.func.id
            if isinstance(node.func, ast.Name)
            else ""
        )
        if name == "setattr" and len(node.args) > 1:
            self._stored = node.args[1]
            if self._spelled_out(node, name):
                return
        second = node.args[1] if len(node.args) > 1 else node.args[0] if node.args else None
        self.harvest.call(node, name, _pattern(second) or "*" if second is not None else None)
        mechanism = _MECHANISMS.get(name)
        if mechanism is None:
            return
        target = _pattern(node.args[0]) if node.args else None
        text = " ".join(ast.unparse(node).split())
        self.dynamic.append(DynamicSite(node.lineno, mechanism, text[:120], None if target in (None, "*") else target))


def _pattern(node: ast.AST) -> str | None:
    """The text of a string expression, each computed part written ``*``."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else "*"
    if isinstance(node, ast.JoinedStr):
        return _squeeze(
            "".join(v.value if isinstance(v, ast.Constant) and isinstance(v.value, str) else "*" for v in node.values)
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Div):
        left, right = _pattern(node.left), _pattern(node.right)
        if left is None or right is None or (left == "*" and right == "*"):
            return None
        return _squeeze(left + ("/" if isinstance(node.op, ast.Div) else "") + right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        left = _pattern(node.left)
        return None if left is None else _squeeze(re.sub(r"%[sdr]", "*", left))
    if isinstance(node, ast.Call):
        attribute = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if attribute == "join" and len(node.args) > 1:
            parts = [_pattern(a) or "*" for a in node.args]
            return _squeeze("/".join(parts)) if any(p != "*" for p in parts) else None
        return "*"
    return "*"


def _squeeze(text: str) -> str:
    return re.sub(r"\*+", "*", text)


def _defines(body: list[ast.stmt]) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.append((node.name, node.lineno))
            case ast.Assign():
                found.extend((t.id, node.lineno) for t in node.targets if isinstance(t, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.append((name, node.lineno))
            case ast.If():
                found.extend(_defines(node.body))
                found.extend(_defines(node.orelse))
            case ast.Try():
                found.extend(_defines(node.body))
                for handler in node.handlers:
                    found.extend(_defines(handler.body))
    return found
