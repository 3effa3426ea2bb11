"""What the files of upstream import, as they are written.

Imports are read with a regular expression from the source text, since removed modules are never
parsed: for explanations, and to know which names upstream uses at all. One in a documentation
string counts; nothing is removed because of one that is found.
"""

import re
from collections.abc import Iterator, Mapping

from shrinker.cache import Cache
from shrinker.syntax.imports import absolute_written, package_of
from shrinker.values.upstream import UpstreamTree, module_name

Written = Mapping[str, tuple[tuple[int, str], ...]]
"""Path of every module of the package to line and dotted name of what it imports, in the order of
the file.
"""

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)|import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)
_NAME = re.compile(r"(?:^|[(,\n])\s*(\w+)")


def written_imports(tree: UpstreamTree, cache: Cache | None = None) -> Written:
    """Read the imports of all modules."""
    layer = (cache or Cache()).layer("imports")
    modules = (file for file in tree.files if module_name(file.path) is not None)
    keys = {file.path: layer.key(file.path, file.sha256) for file in modules}
    return layer.each(keys, lambda path: tuple(_imports(tree.read(path), _package(path))))


def _package(path: str) -> str:
    return package_of(module_name(path) or "", path.endswith("/__init__.py"))


def _imports(data: bytes, package: str) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of what a file imports from anywhere, in its order."""
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
