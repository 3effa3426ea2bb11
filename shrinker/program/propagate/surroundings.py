"""What is kept or removed beside the folded modules, as far as it may name something in them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from shrinker.facts.environment import Environment
from shrinker.program.propagate.hierarchy import ClassHierarchy
from shrinker.program.propagate.world import World
from shrinker.program.written import Written
from shrinker.ruleset import Ruleset
from shrinker.ruleset.match import name_matches
from shrinker.values.folded import FoldedModule
from shrinker.values.texts import words_of
from shrinker.values.upstream import PACKAGE, UpstreamTree, module_name

_WORDS = re.compile(r"[A-Za-z_]\w*")
_NAMING_SUFFIXES = frozenset(
    {
        "py",
        "pyi",
        "toml",
        "cfg",
        "ini",
        "yaml",
        "yml",
        "cpp",
        "cc",
        "cxx",
        "cu",
        "cuh",
        "h",
        "hpp",
        "rs",
        "sh",
        "txt",
        "jinja",
        "proto",
        "js",
        "html",
    }
)
"""Of files that may call Python by name; data files do not."""


def names_something(path: str) -> bool:
    """True for a file that may call Python by name."""
    return path.rpartition(".")[2] in _NAMING_SUFFIXES


class Surroundings:
    """Read once; modules are judged in many rounds."""

    def __init__(
        self,
        tree: UpstreamTree,
        rules: Ruleset,
        kept: Iterable[str],
        removed: Iterable[str],
        written: Written,
    ) -> None:
        """
        Args:
            tree: upstream.
            rules: the profile's rules.
            kept: paths of all kept files.
            removed: paths of the files that a `remove` rule takes.
            written: imports of all of upstream.
        """
        self._tree = tree
        self._rules = rules
        self._kept = [path for path in sorted(kept) if names_something(path) and not module_name(path)]
        dotted = (name for path in removed for _, name in written.get(path, ()))
        self._asked = frozenset(name.rpartition(".")[2] for name in dotted if name.startswith(f"{PACKAGE}."))
        """Names that removed modules import from the tree."""
        self._hierarchy: ClassHierarchy | None = None

    @cached_property
    def _named(self) -> frozenset[str]:
        """Words of the kept files that are no module."""
        found = {part for target in self._tree.declared.scripts.values() for part in _WORDS.findall(target)}
        texts = ((path, self._tree.read(path).decode("utf-8", "replace")) for path in self._kept)
        return frozenset(found).union(*(words_of(path, text) for path, text in texts))

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
        return World(found, environment, self._hierarchy, roots, self._named, self._asked, taken)
