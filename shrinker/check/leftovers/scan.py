"""Find the leftovers of one file: a walk over its statements that remembers where it is."""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from shrinker.check.allowances import is_named_error
from shrinker.check.leftovers.expressions import Expressions
from shrinker.check.leftovers.places import assigned_value, chosen, is_plain_decorator
from shrinker.check.leftovers.vocabulary import Vocabulary, is_constant
from shrinker.syntax.imports import absolute
from shrinker.syntax.names import last_name
from shrinker.syntax.ranges import first_line
from shrinker.syntax.walk import Definition, statements
from shrinker.values.leftovers import Kind, Leftover


class Scanner(Expressions):
    """Walks one file."""

    def __init__(self, path: str, module: str, package: str, vocabulary: Vocabulary, kept: frozenset[str]) -> None:
        super().__init__(path, module, vocabulary)
        self.package = package
        self.kept = kept
        self._in_class = False
        self._hot: list[int] = []
        self._tree = ast.Module([], [])

    def scan(self, tree: ast.Module, lines: Sequence[str], hot: re.Pattern[str] | None) -> tuple[Leftover, ...]:
        """Leftovers by line. Statements without a line that `hot` matches are not looked into."""
        self._hot = [number for number, line in enumerate(lines, 1) if hot is not None and hot.search(line)]
        self._imported = set(_imported(tree.body))
        self._tree = tree
        self.block(tree.body)
        return tuple(sorted(self._found.values(), key=lambda s: (s.line, s.kind, s.text)))

    def block(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            first = first_line(statement)
            index = bisect.bisect_left(self._hot, first)
            if index < len(self._hot) and self._hot[index] <= (statement.end_lineno or first):
                self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.definition(node)
            case ast.Import():
                for alias in node.names:
                    self.imported(node.lineno, alias.name, alias, None)
            case ast.ImportFrom():
                source = absolute(node.module, node.level, self.package)
                for alias in node.names:
                    self.imported(alias.lineno, source, alias, alias.name)
            case ast.Expr(value=ast.Constant(value=str())):
                pass
            case ast.If() if (found := chosen(node)) is not None and found[0] in self._flags:
                # What the command line would take by `choices` alike.
                self.visit(node.test, "test")
                self.visit(found[1], "choices")
            case ast.If() | ast.While():
                self.visit(node.test, "test")
                self.block(node.body)
                self.block(node.orelse)
            case ast.Assert():
                self.visit(node.test, "test")
                if node.msg is not None:
                    self.visit(node.msg, "message")
            case ast.Raise():
                self.parts(node, "named-error" if is_named_error(node) else "message")
            case ast.Assign():
                self.assignment(node.targets, node.value)
            case ast.AnnAssign() | ast.AugAssign():
                if isinstance(node, ast.AnnAssign):
                    self.visit(node.annotation, "annotation")
                self.assignment([node.target], node.value)
            case ast.Match():
                self.visit(node.subject, "test")
                for case in node.cases:
                    self.visit(case.pattern, "comparison")
                    self.never(node.subject, case.pattern, "comparison")
                    if case.guard is not None:
                        self.visit(case.guard, "test")
                    self.block(case.body)
            case _:
                self.parts(node, "value")

    @cached_property
    def _flags(self) -> set[str]:
        """Names that hold the parsed flags of a command line."""
        found: set[str] = set()
        for node in statements(self._tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr="parse_args"))):
                    found.add(name)
        return found

    def definition(self, node: Definition) -> None:
        outer, in_class = self._where, self._in_class
        self._where = f"{outer}.{node.name}"
        self.identifier(node.lineno, node.name, "definition", not isinstance(node, ast.ClassDef))
        for decorator in node.decorator_list:
            self.visit(decorator, "value")
            if not is_plain_decorator(decorator):
                # It may be registered somewhere, to be found by another name.
                self.uses.add((node.name, outer))
        self._in_class = isinstance(node, ast.ClassDef)
        if isinstance(node, ast.ClassDef):
            for base in (*node.bases, *(keyword.value for keyword in node.keywords)):
                self.visit(base, "argument")
        else:
            self.parameters(node.args)
            if node.returns is not None:
                self.visit(node.returns, "annotation")
        self.block(node.body)
        self._where, self._in_class = outer, in_class

    def assignment(self, targets: list[ast.expr], value: ast.expr | None) -> None:
        # A call declares a variable; `auto()` counts a member of an enumeration: without one, those after it would get other numbers.
        declares = self._in_class and isinstance(value, ast.Call) and last_name(value.func) != "auto"
        for target in targets:
            if declares and isinstance(target, ast.Name) and is_constant(target.id):
                if self.words.is_foreign(target.id) or target.id in self.words.variables:
                    self.add("environment", target.lineno, target.id, "environment-declaration")
            else:
                self.visit(target, "assignment")
        if value is not None:
            self.visit(value, assigned_value(targets) or "value")
            for target in targets:
                self.never(target, value, "value")

    def imported(self, line: int, source: str, alias: ast.alias, name: str | None) -> None:
        whole = f"{source}.{name}" if name else source
        outside = source.partition(".")[0] != self.package.partition(".")[0]
        gone = [m for m in (source, whole) if m not in self.kept and self.words.is_removed(m)]
        if self.words.is_absent(source) or (not outside and source not in self.kept and gone):
            self.add("absent imports", line, whole, "import")
            return
        asked = (*([name] if name else source.split(".")), alias.asname)
        kinds = (self.words.name_kind(part, called=True) for part in asked if part)
        kind: Kind | None = next((each for each in kinds if each), None)
        if kind is not None:
            self.add(kind, line, whole, "import")
        elif name and any(map(self.words.is_foreign, source.split("."))):
            self.add("names", line, whole, "import")


def _imported(body: Iterable[ast.stmt]) -> Iterable[str]:
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
        elif isinstance(statement, ast.If | ast.Try):
            yield from _imported((*statement.body, *statement.orelse))
