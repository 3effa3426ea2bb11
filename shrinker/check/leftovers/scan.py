"""Find the leftovers of one file: a walk over its syntax that remembers in which definition it is,
and for what each expression stands there.
"""

import ast
from dataclasses import dataclass, field

from shrinker.check.leftovers import places
from shrinker.check.leftovers.vocabulary import Vocabulary, is_constant
from shrinker.syntax.bindings import collect
from shrinker.syntax.imports import names_of, package_of
from shrinker.syntax.names import attribute_chain, last_name
from shrinker.syntax.parsing import parse
from shrinker.syntax.ranges import Lines, meets, one_line
from shrinker.syntax.side_effects import hands_back
from shrinker.syntax.walk import HOLDERS, Definition, statements
from shrinker.values.leftovers import KINDS, Kind, Leftover, Position
from shrinker.values.upstream import module_name

_UNREAD = ("definition", "parameter", "assignment", "keyword")
"""Places of names that are not read there."""
_TEXT_LIMIT = 160


@dataclass(eq=False)
class Scanner:
    """Walks one file."""

    path: str
    """In the layout of upstream's repository."""
    words: Vocabulary
    """What belongs to other platforms."""
    kept: frozenset[str]
    """Modules of the tree."""
    uses: set[tuple[str, str]] = field(default_factory=set)
    """Foreign identifiers that are read, or named by a string, each with the definition that does
    so.
    """
    asked: set[tuple[str, str, int]] = field(default_factory=set)
    """Functions that a condition or an assignment asks without an argument, with path and line."""
    _found: dict[tuple[Kind, int, str, Position], Leftover] = field(default_factory=dict)
    _in_class: bool = False
    _declares: bool = False
    """Within the targets of an assignment that declares variables."""

    def __post_init__(self) -> None:
        """A file that is no module goes by its path."""
        self.module = self._where = module_name(self.path) or self.path.removesuffix(".py").replace(
            "/", "."
        )
        self._package = package_of(self.module, self.path.endswith("/__init__.py"))

    def scan(self, text: str) -> tuple[Leftover, ...]:
        """Leftovers by line.

        Only statements with a line that may hold one are looked into. Raises SyntaxError,
        ValueError: it is no Python.
        """
        lines = Lines(text)
        self._hot = lines.holding(self.words.hot(lines))
        if not self._hot:
            return ()
        tree = parse(text, self.path)
        bound = collect(tree.body, self._package).names
        self._imported = {name for name, rows in bound.items() if any(row.module for row in rows)}
        # Names that hold the parsed flags of a command line.
        self._flags = set[str]()
        for node in statements(tree):
            match node:
                case ast.Assign(
                    targets=[ast.Name(id=name)],
                    value=ast.Call(func=ast.Attribute(attr="parse_args")),
                ):
                    self._flags.add(name)
        self.within(tree, "value")
        return tuple(sorted(self._found.values(), key=lambda s: (s.line, s.kind, s.text)))

    def within(self, node: ast.AST, place: Position) -> None:
        """Look at all that a piece of syntax holds."""
        for name in HOLDERS[type(node)]:
            value = getattr(node, name)
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, ast.AST):
                    self.visit(child, places.place_within(node, name, child, place))

    def visit(self, node: ast.AST, place: Position) -> None:
        """Look at a piece of syntax that stands in a place."""
        match node:
            case ast.stmt() if not meets(self._hot, node):
                pass
            case ast.Expr(value=ast.Constant(value=str())):
                pass
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.definition(node)
            case ast.Import() | ast.ImportFrom():
                for alias, (source, name, _) in zip(
                    node.names, names_of(node, self._package), strict=True
                ):
                    self.imported(alias, source, name)
            case ast.If(
                ast.Attribute(ast.Name(name)),
                [ast.Expr(ast.Call(ast.Attribute(_, method)) as call)],
                [],
            ) if name in self._flags and method in places.GROWING:
                # A flag of the command line adds it to a list: what it would take by `choices`
                # alike.
                self.visit(node.test, "test")
                self.visit(call, "choices")
            case ast.Assign() | ast.AnnAssign():
                # A call declares a variable; `auto()` counts a member of an enumeration: without
                # one, those after it would get other numbers.
                value = node.value
                self._declares = (
                    self._in_class
                    and isinstance(value, ast.Call)
                    and last_name(value.func) != "auto"
                )
                self.within(node, place)
                self._declares = False
            case ast.Name(id=name) if (
                place == "assignment" and self._declares and is_constant(name)
            ):
                if self.words.foreign.within(name) or name in self.words.variables:
                    self.add("environment", node.lineno, name, "environment-declaration")
            case ast.Constant(value=str(text)):
                self.string(node.lineno, text, place)
            case ast.Name():
                self.identifier(node.lineno, node.id, _name_place(place), False)
            case ast.arg():
                self.identifier(node.lineno, node.arg, "parameter", False)
                self.within(node, place)
            case ast.Attribute():
                self.attribute(node, place, called=False)
            case ast.Call():
                self.call(node, place)
            case ast.Subscript(slice=ast.Tuple(elts=[first, *others])) if place == "annotation":
                for part in (node.value, first):
                    self.visit(part, place)
                for part in others:
                    self.visit(part, places.annotated(node.value, part))
            case _:
                self.within(node, place)

    def definition(self, node: Definition) -> None:
        outer, in_class = self._where, self._in_class
        self._where = f"{outer}.{node.name}"
        self._in_class = isinstance(node, ast.ClassDef)
        self.identifier(node.lineno, node.name, "definition", not self._in_class)
        if not all(map(hands_back, node.decorator_list)):
            # It may be registered somewhere, to be found by another name.
            self.uses.add((node.name, outer))
        self.within(node, "value")
        self._where, self._in_class = outer, in_class

    def imported(self, alias: ast.alias, source: str, name: str) -> None:
        whole = f"{source}.{name}" if name else source
        outside = source.partition(".")[0] != self._package.partition(".")[0]
        modules = [module for module in (source, whole) if module not in self.kept]
        gone = any(rule.takes_module(module) for rule in self.words.removes for module in modules)
        if self.words.is_absent(source) or (not outside and source not in self.kept and gone):
            return self.add("absent imports", alias.lineno, whole, "import")
        asked = filter(None, (*([name] if name else source.split(".")), alias.asname))
        kinds = (self.words.name_kind(part, called=True) for part in asked)
        kind: Kind | None = next(filter(None, kinds), None)
        if kind is None and name and any(map(self.words.foreign.within, source.split("."))):
            kind = "names"
        if kind is not None:
            self.add(kind, alias.lineno, whole, "import")

    def call(self, node: ast.Call, place: Position) -> None:
        asked: Position = "test" if place == "test" else "call"
        if isinstance(node.func, ast.Name):
            if place in ("test", "value") and not node.args and not node.keywords:
                self.asked.add((node.func.id, self.path, node.lineno))
            self.identifier(node.func.lineno, node.func.id, asked, True)
        elif isinstance(node.func, ast.Attribute):
            self.attribute(node.func, asked, called=True)
        else:
            self.visit(node.func, asked)
        inner = places.call_arguments(node, place)
        for argument in node.args:
            self.visit(argument, inner)
        for keyword in node.keywords:
            if keyword.arg is not None:
                self.identifier(keyword.value.lineno, keyword.arg, "keyword", False)
            self.visit(keyword.value, places.BY_KEYWORD.get(keyword.arg, inner))

    def attribute(self, node: ast.Attribute, place: Position, called: bool) -> None:
        root, names = attribute_chain(node)
        whole = ".".join(names)
        if isinstance(root, ast.Name):
            names, whole = (root.id, *names), f"{root.id}.{whole}"
        else:
            self.visit(root, place)
        found: set[Kind] = {"predicates"} if whole in self.words.outside else set()
        for index, name in enumerate(names):
            last = called and index == len(names) - 1
            kind = self.words.name_kind(name, last)
            if kind is not None:
                if place != "assignment":
                    self.uses.add((name, self._where))
                under = names[index - 1] if index else ""
                found.add(
                    "environment" if is_constant(name) and under in ("envs", "environ") else kind
                )
        if found:
            text = ("" if isinstance(root, ast.Name) else "….") + whole + ("()" if called else "")
            tensor = not called and places.is_tensor_attribute(node, self._imported)
            first = next(k for k in KINDS if k in found)
            self.add(first, node.lineno, text, "tensor-attribute" if tensor else _name_place(place))

    def identifier(self, line: int, name: str, place: Position, called: bool) -> None:
        kind = self.words.name_kind(name, called)
        if kind is not None:
            if place not in _UNREAD:
                self.uses.add((name, self._where))
            self.add(kind, line, name + "()" if called and place != "definition" else name, place)

    def string(self, line: int, text: str, place: Position) -> None:
        kind = self.words.text_kind(text)
        if kind is None:
            return
        if place != "exports" and text.isidentifier():
            self.uses.add((text, self._where))
        if place == "probe" and self.words.is_absent(text):
            kind = "absent imports"
        self.add(kind, line, one_line(text, _TEXT_LIMIT), place)

    def add(self, kind: Kind, line: int, text: str, place: Position) -> None:
        key = (kind, line, text, place)
        self._found.setdefault(key, Leftover(kind, self.path, line, text, self._where, place))


def _name_place(place: Position) -> Position:
    # A name within a message is code that runs, not text.
    texts = ("message", "named-error", "help-text", "probe", "tensor-device", "comparison")
    return "value" if place in texts else place
