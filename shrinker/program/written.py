"""What the files of upstream import, as they are written: for explanations, and to know which names it uses at all.

Read with a regular expression from the source text, since removed modules are never parsed. An import in a
documentation string counts; nothing is removed because of one that is found.
"""

import re
from collections.abc import Iterator, Mapping

from shrinker.cache import Cache
from shrinker.syntax.imports import absolute_written, package_of
from shrinker.values.upstream import UpstreamTree, module_name

Written = Mapping[str, tuple[tuple[int, str], ...]]
"""Path of every module of the package to line and dotted name of what it imports, in the order of the file."""

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)|import[ \t]+([\w., \t]+))", re.MULTILINE
)
_NAME = re.compile(r"(?:^|[(,\n])\s*(\w+)")


def written_imports(tree: UpstreamTree, cache: Cache | None = None) -> Written:
    """Read the imports of all modules."""
    layer = (cache or Cache.off()).layer("imports")
    modules = {file.path: name for file in tree.files if (name := module_name(file.path)) is not None}
    keys = {path: layer.key(path, tree.by_path[path].sha256) for path in modules}
    packages = {path: package_of(name, path.endswith("/__init__.py")) for path, name in modules.items()}
    return layer.each(keys, lambda path: tuple(_imports(tree.read(path), packages[path])))


def _imports(data: bytes, package: str) -> Iterator[tuple[int, str]]:
    """Line and dotted name of what a file imports from anywhere, in its order."""
    line, at = 1, 0
    for match in _IMPORT.finditer(data):
        line, at = line + data.count(b"\n", at, match.start()), match.start()
        origin, names, plain = ((text or b"").decode("utf-8", "replace") for text in match.groups())
        if plain:
            yield from ((line, part.split(" as ")[0].strip()) for part in plain.split(","))
            continue
        base = absolute_written(origin, package)
        yield line, base
        yield from ((line, f"{base}.{name}") for name in _NAME.findall(names))
