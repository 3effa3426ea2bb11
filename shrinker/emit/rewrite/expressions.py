"""Literal and TakeOperand: an expression becomes a constant or one of its children."""

from __future__ import annotations

import ast

from shrinker.emit.rewrite.chains import chain_of, drop_operands
from shrinker.emit.rewrite.draft import Draft, span
from shrinker.emit.rewrite.elements import Elements
from shrinker.emit.rewrite.tokens import Tokens
from shrinker.values.edits import Literal

_ATOMS = (
    ast.Name,
    ast.Attribute,
    ast.Call,
    ast.Subscript,
    ast.JoinedStr,
    ast.List,
    ast.Set,
    ast.Dict,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
)
"""Expressions that bind tighter than any operator."""
_FREE = {
    ast.If: ("test",),
    ast.While: ("test",),
    ast.Assert: ("test",),
    ast.Assign: ("value",),
    ast.AnnAssign: ("value",),
    ast.AugAssign: ("value",),
    ast.Return: ("value",),
    ast.Call: ("args",),
    ast.ClassDef: ("bases",),
    ast.keyword: ("value",),
    ast.List: ("elts",),
    ast.Set: ("elts",),
    ast.Tuple: ("elts",),
    ast.Dict: ("values",),
    ast.arguments: ("defaults", "kw_defaults"),
}
"""Children that may be any expression without parentheses."""
_BLOCKS = (ast.stmt, ast.excepthandler, ast.match_case)


class Expressions:
    """The expressions of one statement, its blocks left out."""

    def __init__(self, draft: Draft, tokens: Tokens) -> None:
        self.draft = draft
        self.tokens = tokens
        self._became: dict[ast.expr, ast.expr | str] = {}
        self._bare: set[ast.expr] = set()
        """Expressions that lost their parentheses."""

    def visit(self, node: ast.AST, free: bool = False) -> None:
        """Apply the edits in a node."""
        gone = set(Elements(self.draft, self.tokens).drop(node))
        if isinstance(node, ast.expr):
            edit = self.draft.expression(node)
            if edit is not None:
                self.draft.applied(edit)
                self._replace(
                    node, edit.text if isinstance(edit, Literal) else edit.child, free, isinstance(edit, Literal)
                )
                return
        if isinstance(node, ast.BoolOp | ast.BinOp) and (chain := chain_of(self.draft, self.tokens, node)):
            kept, blanks = drop_operands(self.draft, self.tokens, node, chain)
            for one in kept:
                self.visit(one)
            if len(kept) == 1:
                self._settle(node, kept[0], free, blanks)
            return
        for name, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, ast.AST) and not isinstance(child, _BLOCKS) and child not in gone:
                    unpacked = isinstance(node, ast.keyword) and node.arg is None
                    self.visit(child, name in _FREE.get(type(node), ()) and not unpacked)

    # Replaced

    def _replace(self, node: ast.expr, child: str, free: bool, literal: bool) -> None:
        start, end = self.draft.range(node)
        if literal:
            self.draft.cut(start, end, child)
            self._settle(node, child, free)
            return
        name, _, number = child.partition(":")
        kept = getattr(node, name, None)
        if number and isinstance(node, ast.BoolOp) and name == "values" and int(number) < len(node.values):
            kept = node.values[int(number)]
            # That it was to be dropped no longer matters.
            self.draft.element("BoolOp", span(kept))
        elif number or not isinstance(kept, ast.expr):
            raise self.draft.error(node, f"{type(node).__name__} has no child {child!r}")
        self.visit(kept)
        low, high = self.draft.whole(self.tokens, kept)
        self.draft.cut(start, low)
        self.draft.cut(high, end)
        self._settle(node, kept, free)

    def _settle(self, replaced: ast.expr, survivor: ast.expr | str, free: bool, blanks: str | None = None) -> None:
        """Decide whether what takes the place of an expression keeps the expression's parentheses.

        It needs them when it would bind differently, when it spans lines that only they join, when they
        hold a comment, or when they keep it apart from a word (`not(x)`).

        Args:
            free: it may be any expression there.
            blanks: what stands between the parentheses and it; by default what stood there.
        """
        self._became[replaced] = survivor
        start, end = self.draft.range(replaced)
        groups = self.tokens.groups(start, end)
        if not groups:
            return
        low, high = groups[-1]
        if "#" in (self.draft.text[low:start] + self.draft.text[end:high] if blanks is None else blanks):
            return
        if not self._has_parentheses(survivor) and self._needs_parentheses(replaced, survivor, free, low, high):
            return
        self._bare.add(replaced)
        start, end = (start, end) if isinstance(survivor, str) else self.draft.whole(self.tokens, survivor)
        self.draft.cut(low, start)
        self.draft.cut(end, high)

    def _needs_parentheses(self, replaced: ast.expr, survivor: ast.expr | str, free: bool, low: int, high: int) -> bool:
        text = self.draft.text
        before, after = text[max(low - 1, 0) : low], text[high : high + 1]
        if before.isidentifier() or before.isdigit() or after.isidentifier():
            return True
        if not free and not self._is_atom(survivor):
            return True
        if isinstance(survivor, str):
            return False
        code = self.draft.render(*self.draft.range(survivor))
        if "\n" not in code and "\r" not in code:
            return False
        try:
            ast.parse(code.strip(), mode="eval")
        except SyntaxError:
            return True
        return False

    def _is_atom(self, node: ast.expr | str) -> bool:
        while not isinstance(node, str) and node in self._became:
            node = self._became[node]
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str | bytes):
                start, end = self.draft.range(node)
                return self.tokens.at(end) - self.tokens.at(start) == 1
            return node.value is None or isinstance(node.value, bool)
        return isinstance(node, (str, *_ATOMS))

    def _has_parentheses(self, node: ast.expr | str) -> bool:
        while not isinstance(node, str):
            start, end = self.draft.range(node)
            if (
                isinstance(node, ast.Tuple | ast.GeneratorExp)
                and node not in self._became
                and self.draft.text[start] == "("
            ):
                return True
            if node not in self._bare and self.tokens.groups(start, end):
                return True
            if node not in self._became:
                return False
            node = self._became[node]
        return False
