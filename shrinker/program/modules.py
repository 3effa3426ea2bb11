"""The modules of a tree by dotted name: files, packages with and without ``__init__``."""

from collections.abc import Iterable, Iterator

from shrinker.syntax.imports import package_of, with_packages
from shrinker.values.relations import grouped
from shrinker.values.upstream import enclosing, modules_of


class ModuleIndex:
    """Dotted names of one upstream tree."""

    def __init__(self, paths: Iterable[str]) -> None:
        """Of every path of the tree; files outside the package are ignored."""
        self.paths = modules_of(paths)
        """Dotted name of every Python module to its path."""
        around = (package_of(name, path.endswith("/__init__.py")) for name, path in self.paths.items())
        self.packages = with_packages(around) - {""}
        """Every dotted folder that holds a module at any depth; a namespace package has no entry in `paths`."""
        names = sorted({*self.paths, *self.packages})
        self.children = grouped((name.rpartition(".")[0], name) for name in names)
        """Package to its direct submodules and subpackages, sorted."""

    def prefix(self, dotted: str) -> tuple[str, str]:
        """Split into the longest leading part that is a module or package, and what remains (``""`` when all is)."""
        known = (name for name in (dotted, *enclosing(dotted)) if name in self.paths or name in self.packages)
        name = next(known, "")
        return name, dotted[len(name) :].removeprefix(".")

    def parents(self, dotted: str) -> Iterator[str]:
        """Packages above that have an ``__init__``, nearest first."""
        return (name for name in enclosing(dotted) if name in self.paths)

    def below(self, package: str) -> Iterator[str]:
        """All modules below a package at any depth, sorted within each level."""
        for child in self.children.get(package, ()):
            if child in self.paths:
                yield child
            if child in self.packages:
                yield from self.below(child)
