"""What the files of upstream import, as they are written: for explanations, and to know which names it uses at all.

Read with a regular expression from the source text, since removed modules are never parsed. An import in a
documentation string counts; nothing is removed because of one that is found.
"""

import re
from collections.abc import Iterator, Mapping

from shrinker.cache import Cache
from shrinker.syntax.imports import absolute, package_of
from shrinker.values.upstream import UpstreamTree, module_name

Written = Mapping[str, tuple[tuple[int, str], ...]]
"""Path of every module of the package to line and dotted name of what it imports, in the order of the file."""

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)|import[ \t]+([\w., \t]+))", re.MULTILINE
)
_NAME = re.compile(r"(?:^|[(,\n])\s*(\w+)")


def written_imports(tree: UpstreamTree, cache: Cache | None = None) -> Written:
    """Read the imports of all modules.

    Args:
        cache: imports of files that were read before; by default none.
    """
    layer = (cache or Cache.off()).layer("imports")
    modules = {file.path: name for file in tree.files if (name := module_name(file.path)) is not None}
    keys = {path: layer.key(path, tree.by_path[path].sha256) for path in modules}
    return layer.each(keys, lambda path: _imports(tree.read(path), modules[path], path.endswith("/__init__.py")))


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
    package = package_of(name, is_package)
    for match in _IMPORT.finditer(data):
        origin, names, plain = match.groups()
        start = match.start() + len(match.group()) - len(match.group().lstrip())
        if plain is not None:
            for part in plain.decode("utf-8", "replace").split(","):
                yield start, part.split(" as ")[0].strip()
            continue
        base = origin.decode("utf-8", "replace")
        bare = base.lstrip(".")
        base = absolute(bare, len(base) - len(bare), package)
        yield start, base
        for imported in _NAME.findall(names.decode("utf-8", "replace")):
            yield start, f"{base}.{imported}"
