"""DropElement between commas: in displays, imports, and the bases of a class."""

from collections.abc import Sequence
from typing import TypeVar

import libcst as cst

from shrinker.emit.rewrite.items import Node, thin_between_commas
from shrinker.emit.rewrite.named import Editing

Display = TypeVar("Display", cst.List, cst.Set, cst.Dict)


class Elements(Editing):
    """Removes items of lists, with the comments that a reader takes to be theirs."""

    def leave_List(self, original_node: cst.List, updated_node: cst.List) -> cst.List:
        return self._thinned(original_node, updated_node, "lbracket", "rbracket")

    def leave_Set(self, original_node: cst.Set, updated_node: cst.Set) -> cst.Set:
        if not any(self._stays(original_node.elements)):
            raise self.error(original_node, "an emptied set display would become a dict")
        return self._thinned(original_node, updated_node, "lbrace", "rbrace")

    def leave_Dict(self, original_node: cst.Dict, updated_node: cst.Dict) -> cst.Dict:
        return self._thinned(original_node, updated_node, "lbrace", "rbrace")

    def leave_Tuple(self, original_node: cst.Tuple, updated_node: cst.Tuple) -> cst.Tuple:
        stays = self._stays(original_node.elements)
        if all(stays):
            return updated_node
        if not updated_node.lpar:
            if not any(stays):
                raise self.error(original_node, "no element is left of a tuple without parentheses")
            return updated_node.with_changes(
                elements=thin_between_commas(updated_node.elements, stays)[0]
            )
        *outer, opening = updated_node.lpar
        closing, *others = updated_node.rpar
        left, opening, closing = thin_between_commas(updated_node.elements, stays, opening, closing)
        return updated_node.with_changes(
            elements=left, lpar=[*outer, opening], rpar=[closing, *others]
        )

    def leave_Subscript(
        self, original_node: cst.Subscript, updated_node: cst.Subscript
    ) -> cst.Subscript:
        """Several indices are a tuple to `ast`, which one alone must remain."""
        indices: Sequence[Node] = [item.slice for item in original_node.slice]
        values: list[Node] = [
            index.value if isinstance(index, cst.Index) else index for index in indices
        ]
        stays = [not self.drops(value) for value in values]
        if len(values) == 1 or all(stays):
            return updated_node
        if not any(stays):
            raise self.error(original_node, "no element is left of a tuple without parentheses")
        brackets = (updated_node.lbracket, updated_node.rbracket)
        left, opening, closing = thin_between_commas(updated_node.slice, stays, *brackets)
        if len(left) == 1:
            left = [left[0].with_changes(comma=cst.Comma())]
        return updated_node.with_changes(slice=left, lbracket=opening, rbracket=closing)

    def leave_Import(self, original_node: cst.Import, updated_node: cst.Import) -> cst.Import:
        stays = self._names_that_stay(original_node, original_node.names)
        return updated_node.with_changes(names=thin_between_commas(updated_node.names, stays)[0])

    def leave_ImportFrom(
        self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom
    ) -> cst.ImportFrom:
        if isinstance(original_node.names, cst.ImportStar) or isinstance(
            updated_node.names, cst.ImportStar
        ):
            return updated_node
        stays = self._names_that_stay(original_node, original_node.names)
        left, opening, closing = thin_between_commas(
            updated_node.names, stays, updated_node.lpar, updated_node.rpar
        )
        return updated_node.with_changes(names=left, lpar=opening, rpar=closing)

    def leave_ClassDef(
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.ClassDef:
        stays = self._stays([*original_node.bases, *original_node.keywords])
        if all(stays):
            return updated_node
        if not any(stays):
            bare = cst.MaybeSentinel.DEFAULT
            return updated_node.with_changes(bases=(), keywords=(), lpar=bare, rpar=bare)
        arguments = [*updated_node.bases, *updated_node.keywords]
        left, opening, closing = thin_between_commas(
            arguments, stays, updated_node.lpar, updated_node.rpar
        )
        bases = [
            argument for argument in left if argument.keyword is None and argument.star != "**"
        ]
        return updated_node.with_changes(
            bases=bases, keywords=left[len(bases) :], lpar=opening, rpar=closing
        )

    def _thinned(
        self, original_node: Display, updated_node: Display, left: str, right: str
    ) -> Display:
        """Drop elements of a display between the brackets in two of its fields."""
        stays = self._stays(original_node.elements)
        if all(stays):
            return updated_node
        brackets = (getattr(updated_node, left), getattr(updated_node, right))
        kept, opening, closing = thin_between_commas(updated_node.elements, stays, *brackets)
        return updated_node.with_changes(elements=kept, **{left: opening, right: closing})

    def _names_that_stay(
        self, node: cst.Import | cst.ImportFrom, names: Sequence[cst.ImportAlias]
    ) -> list[bool]:
        stays = self._stays(names)
        if not any(stays):
            raise self.error(
                node, "no name of an import is left: the statement should have been dropped"
            )
        return stays

    def _stays(self, items: Sequence[Node]) -> list[bool]:
        """Say of each item whether it stays.

        What `ast` names is the item, or the value that it holds.
        """
        return [not (self.drops(item) or self.drops(_value_of(item))) for item in items]


def _value_of(item: Node) -> Node:
    """Give the value of an element or argument; the name of an import is its own."""
    return getattr(item, "value", item)
