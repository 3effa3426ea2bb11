"""What the `source` phase returns: the upstream tree, whatever it came from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

PACKAGE = "sglang"
PACKAGE_PREFIX = f"python/{PACKAGE}/"
"""Where the Python package lies in upstream's repository, and therefore in every tree value."""
COMPILED = (".so", ".pyd")
"""Ends of the names of compiled modules, which a release has and a commit has the sources of."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of upstream, by path and content."""

    path: str
    """Posix path in the layout of upstream's repository, e.g.

    ``python/sglang/srt/server_args.py``.
    """
    sha256: str
    size: int
    """In bytes."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What upstream this is, in the words of a report and of the lock."""

    kind: Literal["release", "git", "submodule", "path"]
    spec: str
    """The UPSTREAM value, without machine-specific paths (``release:0.5.7``, ``git@<commit>``)."""
    version: str | None
    """The release's version where known; ``None`` for a commit that no release equals."""
    commit: str | None
    """Full hash; ``None`` for a release whose commit is not known."""
    dirty: bool
    """True for a folder whose files differ from its commit, or that has none."""

    @property
    def reference(self) -> str:
        """By what upstream's repository knows it: a commit, else the tag of the release; empty
        where neither is known.
        """
        return self.commit or (f"v{self.version}" if self.version else "")


@dataclass(frozen=True, slots=True)
class DeclaredPackage:
    """What upstream declares of its package: `pyproject.toml` or the wheel's METADATA, same
    value.
    """

    name: str
    requires_python: str
    dependencies: tuple[str, ...]
    """PEP 508 requirement strings, sorted."""
    extras: Mapping[str, tuple[str, ...]]
    scripts: Mapping[str, str]
    """Console entry points: name to ``module:attribute``."""
    tag: str = ""
    """Of a release's wheel, where it is built for one interpreter and platform:
    ``cp311-cp311-manylinux_2_34_x86_64``.
    """


@dataclass(frozen=True)
class UpstreamTree:
    """A sorted list of files with content hashes, and a folder to read their bytes from."""

    identity: Identity
    root: Path
    files: tuple[SourceFile, ...]
    declared: DeclaredPackage
    unread: Mapping[str, str] = field(default_factory=dict)
    """Files of the wheel or the commit that are no part of the tree value, each with why."""

    @cached_property
    def by_path(self) -> Mapping[str, SourceFile]:
        """The files by their paths."""
        return {file.path: file for file in self.files}

    def read(self, path: str) -> bytes:
        """Return bytes of one file. Raises KeyError for a path that is not in the tree."""
        self.by_path[path]
        return (self.root / path).read_bytes()


def modules_of(paths: Iterable[str]) -> dict[str, str]:
    """Return dotted name of every module of the package among these paths, to its path; a package
    wins over a module.
    """
    found: dict[str, str] = {}
    for path in paths:
        name = module_name(path)
        if name is not None and (name not in found or path.endswith("/__init__.py")):
            found[name] = path
    return found


def compiled_modules(paths: Iterable[str]) -> dict[str, str]:
    """Return dotted name of every compiled extension of the package among these paths, to its path.

    ``python/sglang/srt/x/_core.cpython-311-x86_64-linux-gnu.so`` is ``sglang.srt.x._core``: Python
    looks for the base name up to its first dot.
    """
    found: dict[str, str] = {}
    for path in paths:
        if path.startswith(PACKAGE_PREFIX) and path.endswith(COMPILED):
            folder, _, base = path.removeprefix("python/").rpartition("/")
            found[f"{folder.replace('/', '.')}.{base.partition('.')[0]}"] = path
    return found


def module_name(path: str) -> str | None:
    """Return dotted module of a Python file of the package; ``None`` for any other path."""
    if not (path.startswith(PACKAGE_PREFIX) and path.endswith(".py")):
        return None
    dotted = path[len("python/") : -len(".py")].replace("/", ".")
    return dotted.removesuffix(".__init__")


@lru_cache(maxsize=4096)
def enclosing(name: str, separator: str = ".") -> tuple[str, ...]:
    """Return the packages around a module, or with a slash the folders around a path, the nearest
    first; all rules in turn ask it of one name.
    """
    around: list[str] = []
    while name := name.rpartition(separator)[0]:
        around.append(name)
    return tuple(around)
