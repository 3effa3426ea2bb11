"""Names that a module puts together: f-strings, sums and joins, `getattr` and `setattr` of what is computed."""

from __future__ import annotations

import ast
import bisect
import re
from itertools import chain

from shrinker.fold.reading import Reading
from shrinker.syntax.unroll import Unroller
from shrinker.values.summary import Store

_FIELD = re.compile(r"\{[^{}]*\}")
_LITERAL_CHARACTERS = 3
"""A computed name with fewer letters or digits of its own counts only beside a `getattr` of a computed name."""
_BY_NAME = frozenset({"getattr", "hasattr", "attrgetter", "methodcaller"})
_SETTERS = frozenset({"setattr", "delattr"})
SHORT = 200
"""Characters: a longer string is no annotation and no name."""


class ComputedNames:
    """Names that the module puts together."""

    def __init__(self, reading: Reading, unroller: Unroller) -> None:
        self._reading = reading
        self._unroller = unroller
        self.sites: list[tuple[ast.expr, str]] = []
        """Computed strings, each computed part written ``*``; where loops spell them out, what they are."""
        self._patterns: set[str] = set()
        self._weak: list[tuple[int, str]] = []
        """Patterns that say little, with their lines."""
        self._asks: list[int] = []
        """Lines that read an attribute of a computed name."""

    def _add(self, pattern: str, line: int) -> None:
        for part in re.split(r"[^\w*]+", pattern):
            if "*" in part and _says_something(part):
                literal = part.replace("*", "").replace("_", "")
                if len(literal) >= _LITERAL_CHARACTERS:
                    self._patterns.add(part)
                elif " " not in pattern:
                    # Of a sentence (`f"the {kind}s"`) a part that says so little is no name.
                    self._weak.append((line, part))

    def calls(self, stores: set[Store]) -> None:
        """Calls that get, set or join by a computed name; adds to `stores` what they set."""
        reading = self._reading
        judged: set[int] = set()
        computed: list[ast.expr] = []
        for found in (reading.plain, reading.typing):
            computed += found.joined
            computed += found.sums
            for call in found.calls:
                function = call.func
                name: str = getattr(function, "attr", "") or getattr(function, "id", "")
                if name == "join":
                    computed.append(call)
                elif name in _SETTERS or name in _BY_NAME:
                    if len(call.args) > 1 and (name == "setattr" or self._own_class(call)):
                        judged.add(id(call.args[1]))
                    self._by_name(call, name, stores)
        for node in computed:
            pattern = pattern_of(node)
            if pattern is not None and pattern != "*":
                exact = self._unroller.texts(node) if "*" in pattern and isinstance(node, ast.expr) else None
                self.sites += ((node, text) for text in ((pattern,) if exact is None else exact))
                if "*" in pattern and id(node) not in judged:
                    self._add(pattern, node.lineno)
        for found in (reading.plain, reading.typing):
            for constant in chain(found.texts, found.parts, reading.shown if found is reading.plain else ()):
                text = constant.value
                if "{" in text and len(text) < SHORT:  # type: ignore[operator,arg-type]
                    self._add(_FIELD.sub("*", text), constant.lineno)  # type: ignore[arg-type]

    def _by_name(self, call: ast.Call, name: str, stores: set[Store]) -> None:
        second = call.args[1] if len(call.args) > 1 else call.args[0] if call.args else None
        if second is None:
            return
        pattern = pattern_of(second) or "*"
        owner = self._own_class(call)
        if name in _SETTERS:
            exact = self._unroller.texts(second) if name == "setattr" and "*" in pattern else None
            for text in exact or (pattern,):
                if _says_something(text):
                    stores.add(Store(text, owner=owner if "*" in text else ""))
        elif "*" in pattern:
            if _says_something(pattern):
                self._patterns.add(pattern)
            else:
                self._asks.append(call.lineno)

    def _own_class(self, call: ast.Call) -> str:
        """The outermost class around a call whose first argument is `self`; else empty."""
        first = call.args[0] if len(call.args) > 1 else None
        if not isinstance(first, ast.Name) or first.id != "self":
            return ""
        line = call.lineno
        for node, _ in self._reading.definitions:
            if isinstance(node, ast.ClassDef) and node.lineno <= line <= (node.end_lineno or 0):
                return node.name
        return ""

    def finish(self) -> set[str]:
        """All patterns: those that say little where code beside them reads an attribute of a computed name."""
        if self._asks and self._weak:
            ends = sorted(node.end_lineno or node.lineno for node, inner in self._reading.definitions if not inner)
            asked = {bisect.bisect_left(ends, line) for line in self._asks}
            self._patterns.update(part for line, part in self._weak if bisect.bisect_left(ends, line) in asked)
        return self._patterns


def pattern_of(node: ast.AST) -> str | None:
    """The text of a string expression, each computed part written ``*``."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else "*"
    if isinstance(node, ast.JoinedStr):
        return _squeeze(
            "".join(v.value if isinstance(v, ast.Constant) and isinstance(v.value, str) else "*" for v in node.values)
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Div):
        left, right = pattern_of(node.left), pattern_of(node.right)
        if left is None or right is None or (left == "*" and right == "*"):
            return None
        return _squeeze(left + ("/" if isinstance(node.op, ast.Div) else "") + right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        left = pattern_of(node.left)
        return None if left is None else _squeeze(re.sub(r"%[sdr]", "*", left))
    if isinstance(node, ast.Call):
        attribute = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if attribute == "join" and len(node.args) > 1:
            parts = [pattern_of(a) or "*" for a in node.args]
            return _squeeze("/".join(parts)) if any(p != "*" for p in parts) else None
        return "*"
    return "*"


def _says_something(pattern: str) -> bool:
    """False where no letter of a name is known: `f"{a}_{b}"` says as little as `name` does, `f"_{a}"` is a private one."""
    return pattern.startswith("_") or pattern.strip("*_") != ""


def _squeeze(text: str) -> str:
    return re.sub(r"\*+", "*", text) if "**" in text else text
