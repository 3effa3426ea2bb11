"""A file as the lines that can be executed: which statement each is, and of which function.

What code reads, by name.
"""

import ast
import bisect
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from shrinker.check.subsequence import Tokens, logical_lines
from shrinker.syntax.imports import absolute, package_of
from shrinker.syntax.ranges import first_line
from shrinker.syntax.walk import BLOCKS_OF, Definition, statements
from shrinker.values.upstream import PACKAGE_PREFIX, module_name

Scope = tuple[str, ...]
"""Names of the classes and functions around a line, the outermost first."""


@dataclass(frozen=True, slots=True)
class Line:
    """One logical line that is no comment."""

    number: int
    """Of its first token, 1-based."""
    tokens: Tokens
    scope: Scope
    function: Scope
    """The outermost function whose body it belongs to; empty in the body of a module or class."""
    statement: ast.stmt | None
    """What starts there, of a decorator what it decorates; None for `else`, `finally`, `except`."""


@dataclass(frozen=True, slots=True)
class Source:
    """The lines of a file, in order."""

    lines: tuple[Line, ...]
    scopes: dict[Scope, list[Line]]
    """The same by the innermost function or class."""
    functions: dict[Scope, list[Line]]
    """Those of functions' bodies by the outermost function, what is nested in it included."""
    definitions: dict[Scope, list[ast.stmt]]
    """Outermost functions: several where a condition chooses among them."""

    @classmethod
    def read(cls, text: str) -> Self:
        """Raises SyntaxError when the text is not Python."""
        tree = ast.parse(text)
        owners, definitions = _owners(tree, text.count("\n") + 2)
        starting: dict[int, ast.stmt] = {}
        # An outer one comes before what it holds.
        for node in statements(tree):
            for start in (node, *getattr(node, "decorator_list", ())):
                starting.setdefault(start.lineno, node)
        lines = tuple(
            Line(line.number, line.tokens, *owners[line.number], starting.get(line.number))
            for line in logical_lines(text)
            if len(line.tokens) > 1 or not line.tokens[0].startswith("#")
        )
        scopes, functions = (
            defaultdict[Scope, list[Line]](list),
            defaultdict[Scope, list[Line]](list),
        )
        for line in lines:
            scopes[line.scope].append(line)
            if line.function:
                functions[line.function].append(line)
        return cls(lines, scopes, functions, definitions)

    def of(self, numbers: frozenset[int]) -> Counter[int]:
        """Return how many of these physical lines each logical line holds, by its first number."""
        starts = [line.number for line in self.lines]
        places = (bisect.bisect_right(starts, number) - 1 for number in numbers)
        return Counter(starts[place] for place in places if place >= 0)


def _owners(
    tree: ast.Module, count: int
) -> tuple[list[tuple[Scope, Scope]], dict[Scope, list[ast.stmt]]]:
    """For each line, the innermost body that it stands in, and the outermost function of that;
    these functions.
    """
    owners: list[tuple[Scope, Scope]] = [((), ())] * (count + 1)
    definitions = defaultdict[Scope, list[ast.stmt]](list)

    def enter(node: ast.AST, scope: Scope, function: Scope) -> None:
        for child in (part for name in BLOCKS_OF[type(node)] for part in getattr(node, name)):
            inner, outermost = scope, function
            if isinstance(child, Definition):
                inner = (*scope, child.name)
                if not function and not isinstance(child, ast.ClassDef):
                    outermost = inner
                    definitions[inner].append(child)
                start, end = first_line(child.body[0]), child.end_lineno or 0
                owners[start : end + 1] = [(inner, outermost)] * (end + 1 - start)
            enter(child, inner, outermost)

    enter(tree, (), ())
    return owners, definitions


_DOTTED = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)*\Z")
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Names:
    """Names by how they are read; what is only bound or defined is in neither."""

    plain: frozenset[str]
    """Read as a name of their own, imported, or a part of a string that is a dotted name."""
    attributes: frozenset[str]
    """Read as `x.name`, or a part of such a string."""
    empty: frozenset[str] = frozenset()
    """Of functions, where all of that name do nothing."""
    texts: frozenset[str] = frozenset()
    """Of these, the parts of strings."""
    defined: frozenset[str] = frozenset()
    """Of functions and classes."""


def names_of(nodes: Iterable[ast.AST]) -> Names:
    """Return those of some parts of a syntax tree."""
    plain, attributes, texts = set[str](), set[str](), set[str]()
    empty: dict[str, bool] = {}
    classes = set[str]()
    for node in (node for top in nodes for node in ast.walk(top)):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Load() | ast.Del())
                | ast.AugAssign(target=ast.Name(id=name))
            ):
                plain.add(name)
            # An augmented assignment reads what it writes.
            case (
                ast.Attribute(attr=name, ctx=ast.Load() | ast.Del())
                | ast.AugAssign(target=ast.Attribute(attr=name))
            ):
                attributes.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                plain.update(alias.name.rpartition(".")[2] for alias in aliases)
            case ast.Constant(value=str(text)) if len(text) < _LONGEST and _DOTTED.match(text):
                texts.update(re.split(r"[.:]", text))
            case ast.FunctionDef(name=name, body=body) | ast.AsyncFunctionDef(name=name, body=body):
                empty[name] = empty.get(name, True) and all(map(_does_nothing, body))
            case ast.ClassDef(name=name):
                classes.add(name)
    idle = frozenset(name for name, nothing in empty.items() if nothing)
    defined = frozenset(classes | empty.keys())
    return Names(
        frozenset(plain | texts), frozenset(attributes | texts), idle, frozenset(texts), defined
    )


def _does_nothing(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr | ast.Return):
        return node.value is None or isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Pass)


def names_of_tree(package: Path) -> Names:
    """Return those of all Python files below a folder, but for names by which a file means a
    definition that the tree has. Raises SyntaxError where a file is not Python.
    """
    trees: dict[str, tuple[str, ast.Module]] = {}
    for file in sorted(package.rglob("*.py")):
        module = module_name(f"{PACKAGE_PREFIX}{file.relative_to(package)}") or ""
        trees[module] = (
            package_of(module, file.name == "__init__.py"),
            ast.parse(file.read_bytes(), str(file)),
        )
    defined = {
        module: {n.name for n in tree.body if isinstance(n, Definition)}
        for module, (_, tree) in trees.items()
    }
    plain: set[str] = set()
    for module, (package_name, tree) in trees.items():
        own = set(defined[module])
        for node in (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)):
            there = defined.get(absolute(node.module, node.level, package_name), set())
            own |= there.intersection(alias.name for alias in node.names)
        names = names_of([tree])
        plain |= (names.plain - own) | names.texts
    whole = names_of(tree for _, tree in trees.values())
    return Names(frozenset(plain), whole.attributes, whole.empty, defined=whole.defined)
