"""What a program outside names of the package: read from its files, which are parsed and never run:
those of a wheel, or the files, notebooks and documents of a folder.
"""

import ast
import json
import re
import textwrap
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from shrinker.check.reader import look_up, symbols_of
from shrinker.syntax.control import is_main
from shrinker.syntax.imports import catches_import_error, is_type_checking
from shrinker.syntax.names import attribute_chain, dotted, last_name
from shrinker.syntax.parsing import parsed
from shrinker.syntax.scopes import scope_of
from shrinker.syntax.walk import BLOCKS, BLOCKS_OF, Function
from shrinker.values.manifest import files_below
from shrinker.values.upstream import PACKAGE

KINDS = ("imports", "attributes", "heritage", "texts", "members")
IMPORTS, ATTRIBUTES, HERITAGE, TEXTS, MEMBERS = KINDS
_OWN = re.compile(rb"(?:\bdef +|\bself\.|^ +(?=\w+ *:))(\w+)(?= *[(=:])", re.MULTILINE)
"""Methods, attributes and fields that a file defines."""
_MAX_BYTES = 2**24
_FENCED = re.compile(
    r"^([ \t]*)```[ \t]*(?:python|py)\b[^\n]*\n(.*?)^\1```",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
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
    """One of `KINDS`.

    ``heritage``: what a class outside calls on itself, or overrides, of a base in the package;
    ``members``: a name that is looked up on an object of which the file alone does not say what it
    is.
    """
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
    """Return all uses of a wheel, or of a folder, in the order of its files.

    Raises zipfile.BadZipFile: it is neither. A file that is no Python (a template, Python 2) is
    passed over: nobody imports it.
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
    symbols, loading = symbols_of(tree, f"outside/{path}"), {*_loading(tree.body)}
    imported = (
        (line, module, () if name is None else (name,)) for line, module, name in symbols.imports
    )
    found = [
        Use(path, line, IMPORTS, module, names, line in loading) for line, module, names in imported
    ]
    read = ((line, _split(module, *names)) for line, module, names in symbols.attributes if names)
    found += (Use(path, line, ATTRIBUTES, *place) for line, place in read)
    found += _heritage(tree, path)
    for line, text in symbols.paths:
        module, _, name = text.partition(":")
        found.append(Use(path, line, TEXTS, module, tuple(filter(None, name.split(".")))))
    if any(use.kind == IMPORTS for use in found):
        # One word is anybody's.
        looked = ((name, line) for (name, on, _), line in symbols.lookups.items() if on == "any")
        looks = {name: line for name, line in looked if "_" in name.strip("_")}
        certain = {
            use.names[-1] for use in found if use.kind in (ATTRIBUTES, HERITAGE) and use.names
        }
        found += (
            Use(path, line, MEMBERS, "", (name,))
            for name, line in looks.items()
            if name not in certain
        )
    return sorted(set(found), key=lambda use: (use.line, use.kind, use.module, use.names))


def _loading(body: Iterable[ast.stmt]) -> Iterator[int]:
    """Yield lines of the imports that run as soon as the file is loaded, and whose error nobody
    catches.
    """
    for node in body:
        match node:
            case ast.Import() | ast.ImportFrom():
                yield node.lineno
            case ast.If() if is_type_checking(node.test) or is_main(node):
                yield from _loading(node.orelse)
            case ast.Try() if any(map(catches_import_error, node.handlers)):
                yield from _loading(part for name in BLOCKS[1:] for part in getattr(node, name, ()))
            case _ if not isinstance(node, Function):
                yield from _loading(
                    part for name in BLOCKS_OF[node.__class__] for part in getattr(node, name)
                )


def _heritage(tree: ast.Module, path: str) -> Iterator[Use]:
    """Yield what classes that inherit from one of the package ask of themselves, or override."""
    scope = scope_of(tree, "")
    for node in (each for each in ast.walk(tree) if isinstance(each, ast.ClassDef)):
        bases = [
            (root.id, chain)
            for root, chain in map(attribute_chain, node.bases)
            if isinstance(root, ast.Name)
        ]
        targets = [(target, chain) for root, chain in bases for target in look_up(scope, root)]
        own = {each.name: each.lineno for each in node.body if isinstance(each, Function)}
        asked = {name: line for name, line in own.items() if not name.startswith("__")}
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load):
                above = isinstance(each.value, ast.Call) and last_name(each.value.func) == "super"
                if above or dotted(each.value) == "self":
                    asked.setdefault(each.attr, each.lineno)
        for target, chain in targets:
            yield from (
                Use(path, line, HERITAGE, *_split(target, *chain, name))
                for name, line in asked.items()
            )


def _split(target: str, *names: str) -> tuple[str, tuple[str, ...]]:
    """Return a module, and what is looked up in it by these names one after the other: fallbacks
    import a name twice.
    """
    module, _, name = target.rpartition(".")
    return (module, (name, *names)) if module else (target, names)


def sources_of(place: Path) -> Iterator[tuple[str, bytes]]:
    """Yield path and text of each, sorted by path.

    Raises zipfile.BadZipFile: it is no folder, and no wheel. In a folder, code of a Markdown
    document keeps its lines, each block by itself; a notebook's cells are one file.
    """
    if not place.is_dir():
        with zipfile.ZipFile(place) as archive:
            for name in sorted(archive.namelist()):
                if name.endswith(".py") and archive.getinfo(name).file_size <= _MAX_BYTES:
                    yield name, archive.read(name)
        return
    for path in files_below(place, lambda folder: folder.rpartition("/")[2] in _OTHERS):
        file = place / path
        if (
            file.suffix in (".py", ".ipynb", ".md", ".mdx")
            and file.is_file()
            and file.stat().st_size <= _MAX_BYTES
        ):
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
