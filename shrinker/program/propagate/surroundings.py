"""What is kept or removed beside the folded modules, as far as it may name something in them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from shrinker.cache import Cache
from shrinker.facts.environment import Environment
from shrinker.program.propagate.hierarchy import ClassHierarchy
from shrinker.program.propagate.world import World
from shrinker.ruleset import Ruleset
from shrinker.ruleset.match import name_matches
from shrinker.syntax.imports import absolute
from shrinker.values.folded import FoldedModule
from shrinker.values.texts import words_of
from shrinker.values.upstream import UpstreamTree, module_name

_WORDS = re.compile(r"[A-Za-z_]\w*")
_NAMING_SUFFIXES = frozenset(
    [
        ".py",
        ".pyi",
        ".toml",
        ".cfg",
        ".ini",
        ".yaml",
        ".yml",
        ".cpp",
        ".cc",
        ".cxx",
        ".cu",
        ".cuh",
        ".h",
        ".hpp",
        ".rs",
        ".sh",
        ".txt",
        ".jinja",
        ".proto",
        ".js",
        ".html",
    ]
)
"""Files that may call Python by name; data files do not."""
_FROM = re.compile(r"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]+(?:\(([^)]*)\)|([^\n]*))", re.MULTILINE)


def names_something(path: str) -> bool:
    """True for a file that may call Python by name."""
    return "." + path.rpartition(".")[2] in _NAMING_SUFFIXES


class Surroundings:
    """Read once; modules are judged in many rounds."""

    def __init__(
        self,
        tree: UpstreamTree,
        rules: Ruleset,
        kept: Iterable[str],
        removed: Iterable[str],
        cache: Cache | None = None,
    ) -> None:
        """
        Args:
            tree: upstream.
            rules: the profile's rules.
            kept: paths of all kept files.
            removed: paths of the files that a `remove` rule takes.
            cache: what files import that were read before; by default none.
        """
        self._tree = tree
        self._rules = rules
        self._kept = [path for path in sorted(kept) if names_something(path) and not module_name(path)]
        self._removed = sorted(removed)
        self._cache = cache or Cache.off()
        self._hierarchy: ClassHierarchy | None = None

    @cached_property
    def _named(self) -> tuple[frozenset[str], ...]:
        """Words of each kept file that is no module."""
        found = {part for target in self._tree.declared.scripts.values() for part in _WORDS.findall(target)}
        texts = ((path, self._tree.read(path).decode("utf-8", "replace")) for path in self._kept)
        return (frozenset(found), *(words_of(path, text) for path, text in texts))

    @cached_property
    def _asked(self) -> frozenset[str]:
        return asked_names(self._tree, self._removed, self._cache)

    def world(self, modules: Iterable[FoldedModule], environment: Environment) -> World:
        """The kept modules of a round in these surroundings."""
        found = tuple(sorted(modules, key=lambda m: m.path))
        if self._hierarchy is None:
            self._hierarchy = ClassHierarchy(environment, [m.module for m in found])
        roots = frozenset(
            m.module for m in found for r in self._rules.roots if any(name_matches(p, m.module) for p in r.modules)
        )
        taken = frozenset(
            name
            for m in found
            for r in self._rules.apis
            if m.module in r.modules
            for name, _ in m.defines
            if r.takes(m.module, name)
        )
        named = frozenset().union(*self._named)
        return World(found, environment, self._hierarchy, roots, named, self._asked, self._named, taken)


def asked_names(tree: UpstreamTree, removed: Iterable[str], cache: Cache) -> frozenset[str]:
    """Names that removed modules import from the tree.

    Args:
        tree: upstream.
        removed: paths of the files that a `remove` rule takes.
        cache: what files import that were read before.
    """
    layer = cache.layer("asked names")
    modules = {path: name for path in removed if (name := module_name(path)) is not None}
    keys = {path: layer.key(path, tree.by_path[path].sha256) for path in modules}
    found = layer.load(keys)
    fresh: dict[str, bytes] = {}
    for path, name in modules.items():
        if path not in found:
            package = name if path.endswith("/__init__.py") else name.rpartition(".")[0]
            text = tree.read(path).decode("utf-8", "replace")
            fresh[path] = " ".join(sorted(_imported_from_tree(text, package))).encode()
    layer.save(keys, fresh)
    # Python names may hold any letter, so that bytes are split and then read.
    return frozenset(word.decode() for data in (*found.values(), *fresh.values()) for word in data.split(b" ") if word)


def _imported_from_tree(text: str, package: str) -> set[str]:
    top = package.partition(".")[0]
    found: set[str] = set()
    for source, listed, plain in _FROM.findall(text):
        dots = len(source) - len(source.lstrip("."))
        if absolute(source[dots:], dots, package).partition(".")[0] != top:
            continue
        for item in re.sub(r"#[^\n]*", "", listed or plain).split(","):
            words = _WORDS.findall(item)
            found.update(words[:1])
    return found
