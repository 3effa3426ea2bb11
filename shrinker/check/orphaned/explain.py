"""Give every import without a use the reason why it stays."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from shrinker.check.orphaned.loading import Loading
from shrinker.check.orphaned.readers import Readers
from shrinker.check.orphaned.sources import Sources
from shrinker.values.leftovers import Leftover

_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
Import = ast.Import | ast.ImportFrom


def explain_imports(out: Path, paths: Iterable[str], orphaned: Iterable[Leftover]) -> list[Leftover]:
    """The same imports, each with its reason; the reason is empty where none was found.

    Args:
        out: the generated tree.
        paths: its Python files.
        orphaned: imports of which ruff says that their file does not use them, and upstream's did.
    """
    sources = Sources(out, paths)
    loading, readers = Loading(sources), Readers(sources)
    items = list(orphaned)
    unused = {(item.path, item.line) for item in items}
    return [replace(item, reason=_reason(item, unused, sources, loading, readers)) for item in items]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an import stands."""

    node: Import
    alias: ast.alias
    block: list[ast.stmt]
    function: bool
    watched: int
    """Line of a `try` around it that catches ImportError, 0 without one."""


def _reason(item: Leftover, unused: set[tuple[str, int]], sources: Sources, loading: Loading, readers: Readers) -> str:
    tree = sources.tree(item.path)
    last = item.text.split(" as ")[0].rpartition(".")[2]
    place = next((p for p in _imports(tree.body) if p.alias.lineno == item.line and _last(p.alias) == last), None)
    if place is None:
        return ""
    if place.watched:
        return f"the `try` of line {place.watched} waits for its failure"
    if len(place.block) == 1 and place.block is not tree.body:
        return "it is all that is left of its block"
    bound = place.alias.asname or (
        place.alias.name if isinstance(place.node, ast.ImportFrom) else place.alias.name.partition(".")[0]
    )
    # Another name of the statement that is used loads the module all the same.
    alone = place.node if all((item.path, alias.lineno) in unused for alias in place.node.names) else None
    loaded = loading.loaded(item.path, alone if not place.function else None)
    for module in _loads(place, sources, item.path):
        effect = loading.effect(module, loaded, sources.name(item.path) or "")
        if effect is not None:
            return effect
    if not place.function:
        return readers.reader(item.path, bound) or ""
    return ""


def _last(alias: ast.alias) -> str:
    return alias.name.rpartition(".")[2]


def _loads(place: _Place, sources: Sources, path: str) -> list[str]:
    if isinstance(place.node, ast.Import):
        return [place.alias.name]
    source = sources.source(place.node, path)
    inner = f"{source}.{place.alias.name}"
    return [inner] if inner in sources.modules else [source]


def _imports(body: list[ast.stmt], *, function: bool = False, watched: int = 0) -> Iterator[_Place]:
    for node in body:
        if isinstance(node, Import):
            yield from (_Place(node, alias, body, function, watched) for alias in node.names)
            continue
        inside = function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                catches = field == "body" and isinstance(node, ast.Try) and any(map(_catches, node.handlers))
                yield from _imports(block, function=inside, watched=node.lineno if catches else watched)
        for handler in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from _imports(handler.body, function=inside, watched=watched)


def _catches(handler: ast.ExceptHandler) -> bool:
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(t is None or getattr(t, "id", "") in _IMPORT_ERRORS for t in types)
