"""Collect the words of a folded module while `summary` walks it: what it mentions, what it defines.

Mentions are counted by name, not by object: whoever writes a name anywhere in kept code keeps every definition of
that name alive.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import contextmanager

from shrinker.facts.walk import statements, walk
from shrinker.fold.accesses import Accesses
from shrinker.fold.definitions import is_free
from shrinker.fold.idle import bound_name, described, idle_locals, module_imports
from shrinker.fold.inertia import is_inert
from shrinker.values.edits import Span
from shrinker.values.usage import Usage, pack

_WORDS = re.compile(r"[A-Za-z_]\w*")
_DOTTED_TAIL = re.compile(r"^(?:[A-Za-z_]\w*[.:])*([A-Za-z_]\w*)$")
_FIELD = re.compile(r"\{[^{}]*\}")
_LITERAL_CHARACTERS = 3
"""A computed name with fewer letters or digits of its own counts only beside a `getattr` of a computed name."""
_BY_NAME = frozenset({"getattr", "hasattr", "attrgetter", "methodcaller"})
OWN_ERROR = "shrinker: "
"""How the message of a named error starts; it names what is gone, and mentions nothing."""


class Harvest:
    """Words mentioned so far."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.loads: set[str] = set()
        self._accesses = Accesses()
        self._texts: set[str] = set()
        self._patterns: set[str] = set()
        self.stores: set[str] = set()
        self._classes: list[str] = []
        self._weak: set[str] = set()
        """Patterns of the function at hand that say little."""
        self._asks = False
        """True when the function at hand reads an attribute of a computed name."""
        self._depth = 0
        self._subclassed: set[str] = set()

    @contextmanager
    def definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[None]:
        """What a definition says of its own name is no mention, unless something may register it."""
        function = not isinstance(node, ast.ClassDef)
        self._depth += function
        if not function:
            self._classes.append(node.name)
        around = self.words
        if is_free(node):
            self.words = set()
        yield
        if self.words is not around:
            self.words.discard(node.name)
            around |= self.words
            self.words = around
        if not function:
            self._classes.pop()
        self._depth -= function
        if not self._depth:
            self.leave()

    def leave(self) -> None:
        """The code at hand ends: a function, or the module."""
        if self._asks:
            self._patterns |= self._weak
        self._weak.clear()
        self._asks = False

    def name(self, node: ast.Name) -> None:
        """A name that is read or deleted."""
        if not isinstance(node.ctx, ast.Store):
            self.words.add(node.id)
            self.loads.add(node.id)
            self._accesses.name(node)

    def outer(self, names: list[str]) -> None:
        """Names declared `global` or `nonlocal`."""
        self.words.update(names)
        self.loads.update(names)

    def attribute(self, node: ast.Attribute) -> None:
        """An attribute that is read or deleted, or set in another way than by an assignment."""
        self._accesses.attribute(node)
        if isinstance(node.ctx, ast.Store):
            self.stores.add(f"{node.attr}=*")
            return
        self.words.add(node.attr)
        if isinstance(node.ctx, ast.Del):
            self.stores.add(f"{node.attr}=*")
        base = node.value
        if node.attr == "__subclasses__":
            self._subclassed.add(base.id if isinstance(base, ast.Name) and base.id[:1].isupper() else "*")

    def assignment(self, target: ast.expr, value: ast.expr | None) -> None:
        """An attribute that an assignment of its own sets."""
        if isinstance(target, ast.Attribute):
            self._accesses.attribute(target)
            self.stores.add(f"{target.attr}={_literal(value)}")

    def alias(self, alias: ast.alias, source: str | None) -> None:
        """An imported name: of `source`, or a whole module."""
        self.words.update(alias.name.split("."))
        self._accesses.bind(alias, source)
        if alias.asname and source is not None:
            self.words.add(alias.asname)

    def text(self, text: str) -> None:
        """A string other than a documentation string."""
        found = _WORDS.findall(text)
        self.words.update(found)
        self._accesses.text(text)
        if "{" in text and len(text) < 200:
            self.pattern(_FIELD.sub("*", text))
        if len(text) < 200:
            # It may be an annotation.
            self.loads.update(found)
            tail = _DOTTED_TAIL.match(text)
            if tail:
                self._texts.add(tail.group(1))

    def pattern(self, pattern: str) -> None:
        """A string of which parts are computed."""
        for part in re.split(r"[^\w*]+", pattern):
            # `f"{a}_{b}"` says as little as `name` does.
            if "*" in part and (part.startswith("_") or part.strip("*_")):
                literal = part.replace("*", "").replace("_", "")
                if len(literal) >= _LITERAL_CHARACTERS:
                    self._patterns.add(part)
                elif " " not in pattern:
                    # Of a sentence (`f"the {kind}s"`) a part that says so little is no name.
                    self._weak.add(part)

    def call(self, node: ast.Call, name: str, pattern: str | None) -> None:
        """A call; `pattern` is the text of its second argument."""
        for keyword in node.keywords:
            if keyword.arg is not None:
                self.words.add(keyword.arg)
                self.stores.add(f"{keyword.arg}=*")
        if name in ("setattr", "delattr") and pattern is not None and pattern.strip("*"):
            first = node.args[0]
            own = self._classes and "*" in pattern and isinstance(first, ast.Name) and first.id == "self"
            self.stores.add(f"{pattern}=*@{self._classes[0]}" if own else f"{pattern}=*")
        if name in _BY_NAME and pattern is not None and "*" in pattern:
            if pattern.strip("*"):
                self._patterns.add(pattern)
            else:
                self._asks = True

    def subclass_hook(self, node: ast.ClassDef) -> None:
        """A class whose subclasses may register themselves."""
        if any(isinstance(s, ast.FunctionDef) and s.name == "__init_subclass__" for s in node.body) or any(
            k.arg == "metaclass" and getattr(k.value, "attr", getattr(k.value, "id", "")) not in ("ABCMeta", "EnumMeta")
            for k in node.keywords
        ):
            self._subclassed.add(node.name)

    def finish(self, tree: ast.Module, package: str, lost: set[str], lost_own: set[str], literals: set[Span]) -> Usage:
        """The words of the module.

        Args:
            tree: the folded tree that was walked.
            package: the package that relative imports start from.
            lost: see `Usage`.
            lost_own: see `Usage`.
            literals: where folding wrote a literal.
        """
        fields, decided = _fields(tree, self.stores, literals)
        chains, binds, loose, dynamic = self._accesses.finish(package, self._texts, tree)
        idle = _bound(tree) - self.loads
        free, fixed = _definitions(tree)
        self.leave()
        return Usage(
            words=pack(self.words),
            loads=pack(self.loads),
            reads=pack(loose),
            dynamic=dynamic,
            chains=pack(chains),
            binds=pack(binds),
            statements=pack(described(tree, package, idle)),
            idle_locals=pack(idle_locals(tree, package, lost)),
            texts=pack(self._texts),
            patterns=pack(self._patterns),
            exports=pack(exported(tree)),
            idle=pack(idle),
            free=pack(free),
            fixed=pack(fixed),
            subclassed=pack(self._subclassed),
            stores=pack(self.stores),
            fields=pack(fields),
            decided=pack(decided),
            classes=pack({s.name for s in tree.body if isinstance(s, ast.ClassDef)}),
            inert=is_inert(tree),
            lost=pack(lost),
            lost_own=pack(lost_own),
        )


def exported(tree: ast.Module) -> set[str]:
    """Names in ``__all__``, as far as they are spelled out."""
    found: set[str] = set()
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        )
        if isinstance(node, ast.Assign | ast.AugAssign) and any(
            isinstance(t, ast.Name) and t.id == "__all__" for t in targets
        ):
            found |= {c.value for c in walk(node.value) if isinstance(c, ast.Constant) and isinstance(c.value, str)}
    return found


def _bound(tree: ast.Module) -> set[str]:
    found = {bound_name(node, a) for node, _ in module_imports(tree.body) for a in node.names if a.name != "*"}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found.add(node.targets[0].id)
    return found


def _span(node: ast.expr) -> Span:
    return Span(node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)


def _literal(value: ast.expr | None) -> str:
    if isinstance(value, ast.Constant) and (value.value is None or isinstance(value.value, bool)):
        return repr(value.value)
    return "*"


def _fields(tree: ast.Module, stores: set[str], literals: set[Span]) -> tuple[set[str], set[str]]:
    """Attributes that classes set for certain, and those that folding gave a literal; class bodies add to `stores`."""
    fields: set[str] = set()
    decided: set[str] = set()
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        for statement in statements(node):
            if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
                place = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
                if (
                    isinstance(place, ast.Attribute)
                    and isinstance(statement.value, ast.Constant)
                    and _span(statement.value) in literals
                ):
                    decided.add(place.attr)
        for statement in node.body:
            match statement:
                case ast.Assign(targets=targets, value=value):
                    if len(targets) == 1 and isinstance(targets[0], ast.Name) and _span(value) in literals:
                        decided.add(targets[0].id)
                    for target in targets:
                        for name in walk(target):
                            if isinstance(name, ast.Name):
                                kind = _literal(value) if name is target else "*"
                                stores.add(f"{name.id}={kind}")
                                if kind != "*":
                                    fields.add(f"{node.name}.{name.id}")
                case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
                    stores.add(f"{name}=*")
                case ast.FunctionDef(name="__init__"):
                    for inner in statement.body:
                        own = (
                            inner.targets[0]
                            if isinstance(inner, ast.Assign) and len(inner.targets) == 1
                            else inner.target
                            if isinstance(inner, ast.AnnAssign) and inner.value is not None
                            else None
                        )
                        if isinstance(own, ast.Attribute) and isinstance(own.value, ast.Name):
                            fields.add(f"{node.name}.{own.attr}")
                case ast.If() | ast.Try() | ast.For() | ast.With():
                    for inner in statements(statement):
                        for part in ast.iter_child_nodes(inner):
                            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                                stores.add(f"{part.id}=*")
    return fields, decided


def _definitions(tree: ast.Module) -> tuple[set[str], set[str]]:
    free: set[str] = set()
    fixed: set[str] = set()
    # What stands in a branch of the module or of a class is not dropped, nor is its namesake.
    stack: list[tuple[ast.AST, str, bool]] = [(node, "", True) for node in tree.body]
    while stack:
        node, prefix, direct = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if direct and is_free(node):
                free.add(prefix + node.name)
            else:
                fixed.add(node.name)
            if isinstance(node, ast.ClassDef):
                nested = bool(prefix) or not direct
                stack.extend((s, f"{node.name}.", not nested) for s in node.body)
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While | ast.ExceptHandler):
            for name in ("body", "orelse", "finalbody", "handlers"):
                stack.extend((s, prefix, False) for s in getattr(node, name, ()))
    return free, fixed
