"""The Python files of a generated tree, read and parsed when they are first asked for."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from shrinker.values.upstream import module_name

_PIECE = re.compile(r"\{[^{}]*\}")
_PUT_TOGETHER = re.compile(r"""["']([^"'\n]*\{[^"'\n]*)["']""")
_BETWEEN_NAMES = re.compile(r"[^\w*]+")
_LETTERS = 3


def _says_enough(part: str, text: str) -> bool:
    letters = part.replace("*", "").replace("_", "")
    # Of a sentence (`f"the {kind}s"`) a part that says so little is no name.
    return len(letters) >= _LETTERS or (bool(letters) and " " not in text)


class Sources:
    """Texts, syntax trees and imports by path."""

    def __init__(self, out: Path, paths: Iterable[str]) -> None:
        """
        Args:
            out: the generated tree.
            paths: its Python files.
        """
        self._out = out
        self.paths = sorted(paths)
        self.modules: dict[str, str] = {}
        """Dotted names of the package's modules, to their paths."""
        for path in self.paths:
            name = module_name(path)
            if name is not None:
                self.modules[name] = path
        self._texts: dict[str, str] = {}
        self._trees: dict[str, ast.Module] = {}
        self._imports: dict[str, list[ast.Import | ast.ImportFrom]] = {}
        self._made: dict[str, list[tuple[re.Pattern[str], int]]] = {}

    def name(self, path: str) -> str | None:
        """Dotted name of a module of the package, None for another file."""
        return module_name(path)

    def text(self, path: str) -> str:
        """What a file says; a file that cannot be decoded says nothing here."""
        if path not in self._texts:
            self._texts[path] = (self._out / path).read_bytes().decode("utf-8", "replace")
        return self._texts[path]

    def tree(self, path: str) -> ast.Module:
        """Its syntax tree, empty for a file that is no Python."""
        if path not in self._trees:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self._trees[path] = ast.parse((self._out / path).read_bytes())
            except (SyntaxError, ValueError):
                self._trees[path] = ast.Module([], [])
        return self._trees[path]

    def imports(self, path: str) -> list[ast.Import | ast.ImportFrom]:
        """All its imports, wherever they stand."""
        if path not in self._imports:
            self._imports[path] = [n for n in ast.walk(self.tree(path)) if isinstance(n, ast.Import | ast.ImportFrom)]
        return self._imports[path]

    def package(self, path: str) -> str:
        """The package that relative imports of a file start from."""
        name = module_name(path) or ""
        return name if path.endswith("/__init__.py") else name.rpartition(".")[0]

    def source(self, node: ast.ImportFrom, path: str) -> str:
        """Absolute name of the module that a `from` import takes names of."""
        if not node.level:
            return node.module or ""
        parts = self.package(path).split(".")
        return ".".join([*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])])

    def holding(self, word: str, pattern: str) -> Iterator[tuple[str, int]]:
        """Path and line of the first match of a pattern in each file.

        Args:
            word: a text that every match holds: looking for it is many times as fast.
            pattern: a regular expression.
        """
        compiled = re.compile(pattern, re.MULTILINE)
        for path in self.paths:
            text = self.text(path)
            found = compiled.search(text) if word in text else None
            if found is not None:
                yield path, text.count("\n", 0, found.start()) + 1

    def put_together(self, path: str) -> list[tuple[re.Pattern[str], int]]:
        """Names that strings with computed parts may make in a file, each with its line."""
        if path not in self._made:
            text = self.text(path)
            self._made[path] = [
                (re.compile(re.escape(part).replace(r"\*", r"\w*")), text.count("\n", 0, found.start()) + 1)
                for found in _PUT_TOGETHER.finditer(text)
                for part in _BETWEEN_NAMES.split(_PIECE.sub("*", found.group(1)))
                if "*" in part and _says_enough(part, found.group(1))
            ]
        return self._made[path]
