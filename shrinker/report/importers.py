"""Where upstream imports what was removed, and what became of each place: the answer of `why-not`.

Read with a regular expression from the source text, since removed modules are never parsed. It serves the
explanation alone, no decision rests on it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping

from shrinker.cache import Cache, pack, unpack
from shrinker.graph.saved import Importer
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph
from shrinker.values.upstream import UpstreamTree, module_name

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)|import[ \t]+([\w., \t]+))", re.MULTILINE
)
_NAME = re.compile(r"(?:^|[(,\n])\s*(\w+)")
_MOST = 8


def removed_importers(
    tree: UpstreamTree, graph: Graph, folded: Mapping[str, FoldedModule], cache: Cache | None = None
) -> dict[str, list[Importer]]:
    """Path of every removed module to at most eight places that import it, kept files first.

    Args:
        cache: imports of files that were read before; by default none.
    """
    targets = {name: path for path in graph.removed if (name := module_name(path)) is not None}
    found: dict[str, list[tuple[bool, Importer]]] = {}
    layer = (cache or Cache.off()).layer("imports")
    modules = {file.path: name for file in tree.files if (name := module_name(file.path)) is not None}
    keys = {path: layer.key(path, tree.by_path[path].sha256) for path in modules}
    packed = layer.load(keys)
    fresh = {
        path: pack(_imports(tree.read(path), name, path.endswith("/__init__.py")))
        for path, name in modules.items()
        if path not in packed
    }
    layer.save(keys, fresh)
    packed |= fresh
    for file_path in modules:
        module = folded.get(file_path)
        for line, dotted in unpack(packed[file_path]):
            path = targets.get(dotted)
            if path is None or path == file_path:
                continue
            gone = graph.removed.get(file_path)
            fate = f"itself removed ({gone.rule})" if gone is not None else _fate(module, line, dotted)
            found.setdefault(path, []).append((gone is not None, (file_path, line, fate)))
    return {path: [row for _, row in sorted(rows)[:_MOST]] for path, rows in sorted(found.items())}


def _imports(data: bytes, name: str, is_package: bool) -> tuple[tuple[int, str], ...]:
    """Line and dotted name of what a file imports from anywhere, in its order."""
    found: list[tuple[int, str]] = []
    line, at = 1, 0
    for offset, dotted in _matches(data, name, is_package):
        line += data.count(b"\n", at, offset)
        at = offset
        found.append((line, dotted))
    return tuple(found)


def _matches(data: bytes, name: str, is_package: bool) -> Iterator[tuple[int, str]]:
    package = name if is_package else name.rpartition(".")[0]
    for match in _IMPORT.finditer(data):
        origin, names, plain = match.groups()
        start = match.start() + len(match.group()) - len(match.group().lstrip())
        if plain is not None:
            for part in plain.decode("utf-8", "replace").split(","):
                yield start, part.split(" as ")[0].strip()
            continue
        base = origin.decode("utf-8", "replace")
        if base.startswith("."):
            above = package
            for _ in range(len(base) - len(base.lstrip(".")) - 1):
                above = above.rpartition(".")[0]
            base = ".".join(part for part in (above, base.lstrip(".")) if part)
        yield start, base
        for imported in _NAME.findall(names.decode("utf-8", "replace")):
            yield start, f"{base}.{imported}"


def _fate(module: FoldedModule | None, line: int, dotted: str) -> str:
    if module is None:
        return "kept"
    for site in module.imports:
        if site.line == line and dotted in (site.module, f"{site.module}.{site.name}"):
            return f"still imported ({site.kind})"
    decisions = sorted(module.decisions, key=lambda d: d.line)
    at = bisect_right([d.line for d in decisions], line) - 1
    if at < 0:
        return "folded away"
    # The decision that removed a block stands at or above its first line.
    near = decisions[at]
    return f"folded away by {near.rule}: `{near.text}` is {near.outcome} (line {near.line})"
