"""Why an import stays that its file does not use any more.

An import goes where loading its module changes nothing and nobody reads the name. The judge knows that of two kinds of modules only,
and says so of no other: those of the standard library, and those that an import before it in the file has loaded.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from shrinker.check.reader import read_symbols
from shrinker.syntax.imports import bound_name, catches_import_error
from shrinker.syntax.parsing import parsed
from shrinker.syntax.walk import Function, statements
from shrinker.values.leftovers import Residue
from shrinker.values.upstream import module_name

_OWN_NAMES = re.compile(r"\b(?:globals|eval|exec)\s*\(|\bsys\.modules\b")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an import stands."""

    node: ast.Import | ast.ImportFrom
    alias: ast.alias
    alone: bool
    """It is all that is left of its block."""
    function: bool
    watched: int
    """Line of a `try` around it that catches ImportError, 0 without one."""

    @property
    def loads(self) -> str:
        """The module that the statement names, as it is written."""
        if isinstance(self.node, ast.Import):
            return self.alias.name
        return "." * self.node.level + (self.node.module or self.alias.name)


def explain_imports(out: Path, paths: Iterable[str], unused: Iterable[Residue]) -> list[Residue]:
    """The same imports, each with its reason; the reason is empty where none was found.

    Args:
        out: the generated tree.
        paths: its Python files.
        unused: imports of which ruff says that their file does not use them, and upstream's did.
    """
    items, files = list(unused), sorted(paths)
    lines = {(item.path, item.line) for item in items}
    return [replace(item, reason=_reason(item, lines, out, files)) for item in items]


def _reason(item: Residue, unused: set[tuple[str, int]], out: Path, paths: Iterable[str]) -> str:
    data = (out / item.path).read_bytes()
    tree = parsed(data, item.path) or ast.Module([], [])
    places = list(_imports(tree.body, top=True))
    last = item.text.split(" as ")[0].rpartition(".")[2]
    place = next((p for p in places if p.alias.lineno == item.line and p.alias.name.rpartition(".")[2] == last), None)
    if place is None:
        return ""
    if place.watched:
        return f"the `try` of line {place.watched} waits for its failure"
    if place.alone:
        return "it is all that is left of its block"
    module = place.loads
    earlier = (p for p in places if p.node in tree.body and (place.function or p.node.lineno <= place.node.lineno))
    before = {p.loads for p in earlier if (item.path, p.alias.lineno) not in unused}
    if module.partition(".")[0] not in sys.stdlib_module_names and module not in before:
        return f"importing {module} may do something, and nothing before it in the file has loaded it"
    if place.function:
        return ""
    bound = bound_name(place.node, place.alias)
    text = data.decode("utf-8", "replace")
    if _OWN_NAMES.search(text):
        return "its file looks at names of its own module"
    return _said(tree, bound) or _reader(item.path, bound, out, paths)


def _said(tree: ast.Module, name: str) -> str:
    """Where the file itself says the name: in a string that may be an annotation, or for another thing."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    documentation = {id(node.value) for node in statements(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in documentation and word.search(text):
                return f"the string of line {node.lineno} says its name, as an annotation does"
            case ast.Name(id=other, ctx=ast.Load()) if other == name:
                return f"line {node.lineno} reads another `{name}`"
    return ""


def _reader(own: str, name: str, out: Path, paths: Iterable[str]) -> str:
    """Who may read a name of a file's module level: as an attribute of anything, by a text, or by an import."""
    if module_name(own) is None:
        return "code outside the package may read it"
    reads = re.compile(rf"\.{re.escape(name)}\b|[\"'](?:[\w.:]+[.:])?{re.escape(name)}[\"']")
    others = ((path, (out / path).read_bytes().decode("utf-8", "replace")) for path in paths if path != own)
    texts = {path: text for path, text in others if name in text}
    for path, text in texts.items():
        if found := reads.search(text):
            line = text.count("\n", 0, found.start()) + 1
            return f"{path}:{line} reads `{name}` of something that may be the module"
    for path in texts:
        for line, _, imported in read_symbols(out, path).imports:
            # Another module may hand it on, by a star import, too.
            if imported == name or (imported == "*" and not name.startswith("_")):
                return f"{path}:{line} imports it"
    return ""


def _imports(body: list[ast.stmt], *, top: bool = False, function: bool = False, watched: int = 0) -> Iterator[_Place]:
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (_Place(node, alias, len(body) == 1 and not top, function, watched) for alias in node.names)
        inside = function or isinstance(node, Function)
        catches = isinstance(node, ast.Try) and any(map(catches_import_error, node.handlers))
        for field in ("body", "orelse", "finalbody"):
            line = node.lineno if catches and field == "body" else watched
            yield from _imports(getattr(node, field, []), function=inside, watched=line)
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from _imports(part.body, function=inside, watched=watched)
