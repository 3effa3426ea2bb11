"""Texts within a unit: the names that they spell, and patterns of those that are computed."""

import ast
import re

from shrinker.fold.messages import is_message
from shrinker.fold.summary import pattern_of
from shrinker.fold.symbols.notes import Notes
from shrinker.fold.symbols.tables import SpelledTexts
from shrinker.syntax.names import names_in_code, names_in_fields, names_in_values, spelled_otherwise
from shrinker.syntax.scopes import Scope
from shrinker.syntax.walk import walk

_NAMES = re.compile(r"[A-Za-z_][\w.:\-,/|]*")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LETTER = re.compile(r"[A-Za-z]")
_PIECE = re.compile(r"[\w.:]*")
_LONGEST = 200
COMPARED = frozenset({"startswith", "endswith", "removeprefix", "removesuffix"})
EVALUATES = frozenset({"compile", "eval", "exec"})


class Texts(Notes):
    """Notes what texts name."""

    def __init__(self, module: Scope, tables: SpelledTexts) -> None:
        """Begin with nothing."""
        super().__init__(module, tables)
        self._ends: dict[str, int] = {}
        """Patterns of the texts that names are compared with, as `name.startswith("on_")` does."""
        self._prefixes: dict[str, int] = {}
        """Texts that dotted names are compared with."""
        self._replacing: set[str] = set()
        """Words that are put in the place of a part of a name."""

    def _text(self, text: str) -> None:
        if is_message(text):
            return
        if (
            (len(text) <= _LONGEST and _NAMES.fullmatch(text))
            or "sglang" in text
            or "import " in text
        ):
            self._note(self.texts, *_WORD.findall(text), *spelled_otherwise(text))
            if _DOTTED.fullmatch(text):
                self._note(self.texts, text)
        else:
            self._note(
                self.texts,
                *names_in_fields(text),
                *names_in_values(text),
                *sorted(names_in_code(text)),
            )
            if text.startswith("--"):
                self._note(self.texts, *spelled_otherwise(text))

    def _computed(self, node: ast.expr, into: dict[str, int]) -> bool:
        """Return a text that may be computed; False when no letter of it is known."""
        pattern = pattern_of(node)
        if not _LETTER.search(pattern):
            return False
        if "*" not in pattern:
            self._text(pattern)
        elif could_be_a_name(pattern):
            self._note(into, pattern)
        return True

    def _spelled(self, node: ast.Call) -> None:
        """Note each word of a text that is evaluated, or split into names.

        `eval("ops.add(1)")` names `ops` and `add`; `"run stop".split()` names `run` and `stop`.
        """
        spelled: list[ast.expr] = list(node.args)
        if isinstance(node.func, ast.Attribute):
            spelled.append(node.func.value)
        for part in spelled:
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                self._note(self.texts, *_WORD.findall(part.value))

    def _compared(self, node: ast.Call, name: str) -> None:
        """Note the texts that a name may begin or end with."""
        for part in walk(node):
            if not isinstance(part, ast.Constant) or not isinstance(part.value, str):
                continue
            if "." in part.value:
                self._note(self._prefixes, part.value)
            elif _WORD.fullmatch(part.value):
                starts = name in ("startswith", "removeprefix")
                self._note(self._ends, f"{part.value}*" if starts else f"*{part.value}")

    def _bytes(self, value: bytes) -> None:
        """Note each word: what is read from a wire becomes a name by `decode`."""
        self._note(self.texts, *_WORD.findall(value.decode("ascii", "ignore")))

    def _replaced(self, arguments: list[ast.expr]) -> None:
        """Note the words by which `name.replace("a", "b")` makes another name."""
        texts = (part.value for part in arguments[1:] if isinstance(part, ast.Constant))
        self._replacing.update(
            text
            for text in texts
            if isinstance(text, str) and len(text) > 2 and text.isidentifier()
        )


def could_be_a_name(pattern: str) -> bool:
    """Tell whether a text of this pattern may be a name: `on_*` may, `no * here` may not."""
    return _PIECE.fullmatch(pattern.replace("*", "")) is not None
