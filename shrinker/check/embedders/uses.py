"""What a program outside names of the package: read from its files, which are parsed and never run: those of a wheel, or the files, notebooks
and documents of a folder.
"""

import ast
import json
import os
import re
import textwrap
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from shrinker.check.reader import symbols_of
from shrinker.check.uses import attribute_chain, imports_of
from shrinker.syntax.imports import Import, catches_import_error, is_type_checking
from shrinker.syntax.names import last_name
from shrinker.syntax.parsing import parsed
from shrinker.syntax.scopes import Scope, Scoped, scope_of
from shrinker.syntax.walk import Function, children
from shrinker.values.upstream import PACKAGE

KINDS = ("imports", "attributes", "heritage", "texts", "members")
IMPORTS, ATTRIBUTES, HERITAGE, TEXTS, MEMBERS = KINDS
_OWN = re.compile(rb"(?:\bdef +|\bself\.|^ +(?=\w+ *:))(\w+)(?= *[(=:])", re.MULTILINE)
"""Methods, attributes and fields that a file defines."""
_MAX_BYTES = 2**24
_FENCED = re.compile(r"^([ \t]*)```[ \t]*(?:python|py)\b[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL | re.IGNORECASE)
_MAGIC = re.compile(r"^[ \t]*[%!].*$", re.MULTILINE)
"""What IPython understands and Python does not."""
_OTHERS = frozenset({".git", ".venv", "__pycache__", "node_modules", "site-packages"})
"""Folders that are not the program's own."""


@dataclass(frozen=True, slots=True)
class Use:
    """One name of the package that a file outside needs."""

    path: str
    """Within the wheel or folder."""
    line: int
    kind: str
    """One of `KINDS`. ``heritage``: what a class outside calls on itself, or overrides, of a base in the package; ``members``: a name
    that is looked up on an object of which the file alone does not say what it is."""
    module: str
    """Where the name is looked for; empty for ``members``."""
    names: tuple[str, ...] = ()
    at_load: bool = False
    """The file asks for it as soon as it is loaded, and catches no error."""

    @property
    def dotted(self) -> str:
        """All of it."""
        return ".".join(filter(None, (self.module, *self.names)))


def uses_of(program: Path) -> tuple[Use, ...]:
    """All uses of a wheel, or of a folder, in the order of its files.

    A file that is no Python (a template, Python 2) is passed over: nobody imports it.

    Raises:
        zipfile.BadZipFile: it is no folder, and no wheel.
    """
    found: list[Use] = []
    own: set[str] = set()
    for name, source in sources_of(program):
        own.update(match[1].decode() for match in _OWN.finditer(source))
        if PACKAGE.encode() in source:
            found += uses_of_file(source, name)
    # What the program has by itself it need not ask of the package.
    return tuple(use for use in found if use.kind != MEMBERS or use.names[0] not in own)


def uses_of_file(source: bytes, path: str) -> list[Use]:
    """Uses of one file; see `uses_of`."""
    tree = parsed(source, path)
    if tree is None:
        return []
    symbols = symbols_of(tree, f"outside/{path}", source)
    found = list(_Reader(path).uses(tree.body, scope_of(tree, ""), at_load=True))
    for line, text in symbols.paths:
        module, _, name = text.partition(":")
        found.append(Use(path, line, TEXTS, module, tuple(filter(None, name.split(".")))))
    if any(use.kind == IMPORTS for use in found):
        # One word is anybody's.
        looks = {look.name: look.line for look in symbols.lookups if look.on == "any" and "_" in look.name.strip("_")}
        certain = {use.names[-1] for use in found if use.kind in (ATTRIBUTES, HERITAGE) and use.names}
        found += (Use(path, line, MEMBERS, "", (name,)) for name, line in looks.items() if name not in certain)
    return sorted(set(found), key=lambda use: (use.line, use.kind, use.module, use.names))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Follows the names that a file imports from the package."""

    path: str

    def uses(self, nodes: Iterable[ast.AST], scope: Scope, *, at_load: bool) -> Iterator[Use]:
        """Of these pieces of syntax; `at_load` where the file asks for it as soon as it is loaded."""
        for node in nodes:
            yield from self._of_node(node, scope, at_load)

    def _of_node(self, node: ast.AST, scope: Scope, at_load: bool) -> Iterator[Use]:
        match node:
            case ast.Import() | ast.ImportFrom():
                for module, names in _ours(node):
                    yield Use(self.path, node.lineno, IMPORTS, module, names, at_load)
                return
            case ast.Try():
                uncaught = at_load and not any(map(catches_import_error, node.handlers))
                yield from self.uses(node.body, scope, at_load=uncaught)
                yield from self.uses((*node.handlers, *node.orelse, *node.finalbody), scope, at_load=at_load)
                return
            case ast.If() if is_type_checking(node.test) or (
                isinstance(node.test, ast.Compare) and last_name(node.test.left) == "__name__"
            ):
                yield from self.uses(node.body, scope, at_load=False)
                yield from self.uses(node.orelse, scope, at_load=at_load)
                return
            case ast.Attribute() if targets := _targets(node, scope):
                for module, names in targets if isinstance(node.ctx, ast.Load) else ():
                    yield Use(self.path, node.lineno, ATTRIBUTES, module, names, at_load)
                return
            case ast.ClassDef():
                yield from self._heritage(node, scope)
        at_load = at_load and not isinstance(node, Function | ast.Lambda)
        inner = scope.inside(node) if isinstance(node, Scoped) else scope
        yield from self.uses(children(node), inner, at_load=at_load)

    def _heritage(self, node: ast.ClassDef, scope: Scope) -> Iterator[Use]:
        bases = [target for base in node.bases for target in _targets(base, scope)]
        if not bases:
            return
        own = {each.name: each.lineno for each in node.body if isinstance(each, Function)}
        asked = {name: line for name, line in own.items() if not name.startswith("__")}
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load):
                above = isinstance(each.value, ast.Call) and last_name(each.value.func) == "super"
                if above or (last_name(each.value) == "self" and isinstance(each.value, ast.Name)):
                    asked.setdefault(each.attr, each.lineno)
        for module, names in bases:
            for name, line in asked.items():
                yield Use(self.path, line, HERITAGE, module, (*names, name))


def _targets(node: ast.expr, scope: Scope) -> list[tuple[str, tuple[str, ...]]]:
    """What an expression may name in the package: fallbacks import a name twice."""
    root, chain = attribute_chain(node)
    known = imports_of(scope, root.id) if isinstance(root, ast.Name) else ()
    return [(each.module, (*filter(None, [each.name]), *chain)) for each in known]


def _ours(node: Import) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The modules of the package that an import asks for, each with the name in it."""
    for alias in node.names:
        module = alias.name if isinstance(node, ast.Import) else (node.module or "") if not node.level else ""
        if module.partition(".")[0] == PACKAGE:
            yield module, () if isinstance(node, ast.Import) else (alias.name,)


def sources_of(place: Path) -> Iterator[tuple[str, bytes]]:
    """Path and text of each, sorted by path.

    In a folder, code of a Markdown document keeps its lines, each block by itself; a notebook's cells are one file.

    Raises:
        zipfile.BadZipFile: it is no folder, and no wheel.
    """
    if place.is_dir():
        yield from _folder(place)
        return
    with zipfile.ZipFile(place) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(".py") and archive.getinfo(name).file_size <= _MAX_BYTES:
                yield name, archive.read(name)


def _folder(place: Path) -> Iterator[tuple[str, bytes]]:
    for folder, inner, names in os.walk(place):
        inner[:] = sorted(set(inner) - _OTHERS)
        for name in sorted(names):
            file = Path(folder, name)
            if file.suffix in (".py", ".ipynb", ".md", ".mdx") and file.is_file() and file.stat().st_size <= _MAX_BYTES:
                path = file.relative_to(place).as_posix()
                if file.suffix == ".py":
                    yield path, file.read_bytes()
                    continue
                text = file.read_text("utf-8", "replace")
                for code in _cells(text) if file.suffix == ".ipynb" else _blocks(text):
                    yield path, code.encode()


def _cells(text: str) -> Iterator[str]:
    try:
        cells = json.loads(text)["cells"]
        found = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError):
        return
    yield _MAGIC.sub("", "\n".join(found))


def _blocks(text: str) -> Iterator[str]:
    for match in _FENCED.finditer(text):
        yield "\n" * text.count("\n", 0, match.start(2)) + _MAGIC.sub("", textwrap.dedent(match[2]))
