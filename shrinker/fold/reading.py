"""One walk over a folded module, from which all words of it are taken: its nodes by kind.

A walk costs as much as half of what is done with the nodes, so that there is one for all who ask. The order is open.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from typing import Any

from shrinker.fold.exports import is_export
from shrinker.syntax.imports import Import, catches_import_error, is_type_checking
from shrinker.syntax.walk import BLOCKS_OF, Function, walk


class Reading:
    """The nodes of a folded module."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self._nodes: defaultdict[type, list[Any]] = defaultdict(list)
        for node in walk(tree):
            self._nodes[node.__class__].append(node)
        formats = {node.format_spec for node in self.of(ast.FormattedValue) if node.format_spec is not None}
        self.joined = [node for node in self.of(ast.JoinedStr) if node not in formats]
        """F-strings."""
        self.parts = [part for node in self.joined for part in node.values if isinstance(part, ast.Constant)]
        """Constant parts of f-strings."""
        listed = (node for node in self.of(ast.Assign, ast.AugAssign, ast.AnnAssign) if is_export(node))
        displays = (node.value for node in listed if isinstance(node.value, ast.List | ast.Tuple))
        self.exported = [entry for display in displays for entry in display.elts if _is_text(entry)]
        """Entries of ``__all__``."""
        # Documentation, and what stands in the format of an f-string, name nothing.
        silent = {node.value for node in self.of(ast.Expr)}.union(*(node.values for node in formats))
        silent.update(self.parts, self.exported)
        self.texts = [node for node in self.of(ast.Constant) if _is_text(node) and node not in silent]
        """Strings, but for those that are part of another one or stand alone."""
        self.sums = [node for node in self.of(ast.BinOp) if isinstance(node.op, ast.Add | ast.Div | ast.Mod)]
        """What may compute a string."""
        given = [(target, node.value) for node in self.of(ast.Assign) for target in node.targets]
        given += [(node.target, node.value) for node in self.of(ast.AnnAssign)]
        self.stores = [(target, value) for target, value in given if isinstance(target, ast.Attribute)]
        """Attributes that an assignment of its own sets, and to what."""
        self.augmented = {node.target.attr for node in self.of(ast.AugAssign) if isinstance(node.target, ast.Attribute)}
        """Attributes that are changed in place: it reads before it writes."""
        self.imports: list[tuple[Import, str, bool]] = []
        """With the kind of the `ImportSite`, and whether a handler catches ImportError."""
        self._find_imports(tree, "import", False)

    def of(self, *kinds: type[ast.AST]) -> Iterator[Any]:
        """All nodes of some classes."""
        return chain.from_iterable(self._nodes[kind] for kind in kinds)

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


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
