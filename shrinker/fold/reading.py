"""One walk over a folded module, from which all words of it are taken: its nodes by kind.

A walk costs as much as half of what is done with the nodes, so that there is one for all who ask. The order is open.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from shrinker.fold.messages import is_message
from shrinker.syntax.imports import Import, catches_import_error, is_type_checking
from shrinker.syntax.scopes import COMPREHENSIONS
from shrinker.syntax.walk import BLOCKS_OF, HOLDERS, Function

_COMPUTING = (ast.Add, ast.Div, ast.Mod)
_PLAIN = (ast.Name, ast.Attribute, ast.Call, ast.MatchClass, ast.Global, ast.Nonlocal)
LOOPS = (ast.For, *COMPREHENSIONS)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Reading:
    """The nodes of a folded module."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.joined: list[ast.JoinedStr] = []
        self.texts: list[ast.Constant] = []
        """Strings, but for those that are part of another one or stand alone."""
        self.parts: list[ast.Constant] = []
        """Constant parts of f-strings."""
        self.exported: list[ast.Constant] = []
        """Entries of ``__all__``."""
        self.sums: list[ast.BinOp] = []
        """``+``, ``/`` and ``%``, which may compute a string."""
        self.imports: list[tuple[Import, str, bool]] = []
        """With the kind of the `ImportSite`, and whether a handler catches ImportError."""
        self.stores: list[tuple[ast.Attribute, ast.expr | None]] = []
        """Attributes that an assignment of its own sets, and to what."""
        self.augmented: set[str] = set()
        """Attributes that are changed in place."""
        self._plain: dict[type, list[Any]] = {kind: [] for kind in (*LOOPS, *DEFINITIONS, *_PLAIN)}
        self._read(tree)
        self._find_imports(tree, "import", False)

    def of(self, *kinds: type[ast.AST]) -> Iterator[Any]:
        """Loops, comprehensions, definitions and other nodes that say nothing beside what they hold, of some classes."""
        return chain.from_iterable(self._plain[kind] for kind in kinds)

    def _read(self, tree: ast.Module) -> None:
        stack: list[ast.AST] = [tree]
        pop, push, plain, special = stack.pop, stack.append, self._plain, _SPECIAL
        while stack:
            node = pop()
            kind = node.__class__
            if (into := plain.get(kind)) is not None:
                into.append(node)
            elif (method := special.get(kind)) is not None:
                stack += method(self, node)
                continue
            values = node.__dict__
            for field in HOLDERS[kind]:
                value = values.get(field)
                if value.__class__ is list:
                    stack += [item for item in value if item is not None]
                elif value is not None:
                    push(value)

    # What says something by itself; each returns the parts that are read on

    def _constant(self, node: ast.Constant) -> Iterable[ast.AST]:
        if node.value.__class__ is str:
            self.texts.append(node)
        return ()

    def _alone(self, node: ast.Expr) -> Iterable[ast.AST]:
        # A string that stands alone is documentation.
        return () if node.value.__class__ is ast.Constant else (node.value,)

    def _raise(self, node: ast.Raise) -> Iterable[ast.AST]:
        match node.exc:
            case ast.Call(args=[ast.Constant(value=str() as text)]) if is_message(text):
                # It names what is gone, and mentions nothing.
                return ()
        return [part for part in (node.exc, node.cause) if part is not None]

    def _sum(self, node: ast.BinOp) -> Iterable[ast.AST]:
        if isinstance(node.op, _COMPUTING):
            self.sums.append(node)
        return node.left, node.right

    def _joined(self, node: ast.JoinedStr) -> Iterable[ast.AST]:
        self.joined.append(node)
        self.parts += [part for part in node.values if isinstance(part, ast.Constant)]
        computed = [part for part in node.values if isinstance(part, ast.FormattedValue)]
        # The texts of a format name nothing.
        formats = [part.format_spec.values for part in computed if isinstance(part.format_spec, ast.JoinedStr)]
        inner = [part for part in chain.from_iterable(formats) if isinstance(part, ast.FormattedValue)]
        return [part.value for part in (*computed, *inner)]

    def _assigned(self, node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> Iterable[ast.AST]:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = [] if node.value is None else [node.value]
        match targets:
            case [ast.Name(id="__all__")] if isinstance(node.value, ast.List | ast.Tuple):
                entries = [e for e in node.value.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
                self.exported += entries
                return [each for each in node.value.elts if each not in entries]
        for target in targets:
            if isinstance(target, ast.Attribute):
                if isinstance(node, ast.AugAssign):
                    # It reads before it writes.
                    self.augmented.add(target.attr)
                else:
                    self.stores.append((target, node.value))
        return [*targets, *value, *([node.annotation] if isinstance(node, ast.AnnAssign) else [])]

    def _find_imports(self, node: ast.AST, kind: str, guarded: bool) -> None:
        """Imports below a node, with what stands around them."""
        for field in BLOCKS_OF[node.__class__]:
            here, watched = kind, guarded
            if isinstance(node, Function) and kind != "import-type":
                here = "import-local"
            elif field == "body" and isinstance(node, ast.If) and is_type_checking(node.test):
                here = "import-type"
            elif field == "body" and isinstance(node, ast.Try):
                watched = guarded or any(map(catches_import_error, node.handlers))
            for part in getattr(node, field):
                if isinstance(part, Import):
                    self.imports.append((part, here, watched))
                elif BLOCKS_OF[part.__class__]:
                    self._find_imports(part, here, watched)


_SPECIAL: dict[type, Callable[..., Iterable[ast.AST]]] = {
    ast.Import: lambda self, node: (),
    ast.ImportFrom: lambda self, node: (),
    ast.Constant: Reading._constant,
    ast.Expr: Reading._alone,
    ast.Raise: Reading._raise,
    ast.BinOp: Reading._sum,
    ast.JoinedStr: Reading._joined,
    ast.Assign: Reading._assigned,
    ast.AugAssign: Reading._assigned,
    ast.AnnAssign: Reading._assigned,
}
