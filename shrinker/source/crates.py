"""Modules of the package that are compiled: where a release has them, and which crates of a commit
they are built from.
"""

import tomllib
from collections.abc import Callable, Iterable

from shrinker.values.upstream import compiled_modules

WORKSPACE = ("rust/", "proto/")
"""Folders of upstream's repository that its crates are built from, as a whole: a workspace names
all of its members.
"""
_MANIFEST = "/Cargo.toml"


def modules_by_file(paths: Iterable[str], read: Callable[[str], bytes]) -> dict[str, str]:
    """Return dotted name of every compiled module to the file that says so, in the layout of
    upstream's repository.

    A release has the module itself, ``python/sglang/srt/x/_core.cpython-311-x86_64-linux-gnu.so``.
    A commit has a crate whose ``Cargo.toml`` names the module that upstream's loader builds of it,
    by ``python-module`` in ``[package.metadata.sglang]``. The module counts where both are there.
    """
    paths = [*paths]
    found: dict[str, str] = {}
    for path in paths:
        if (
            path.startswith(WORKSPACE[0])
            and path.endswith(_MANIFEST)
            and (name := _declared(read(path)))
        ):
            found[name] = path
    return found | compiled_modules(paths)


def built_from(file: str, paths: Iterable[str]) -> list[str]:
    """Return files that a compiled module needs besides the one that `modules_by_file` names: of a
    crate, the whole workspace.
    """
    if not file.endswith(_MANIFEST):
        return []
    return [path for path in paths if path.startswith(WORKSPACE) and path != file]


def _declared(manifest: bytes) -> str:
    """Return the module that a crate's manifest names; empty where it names none, or is no TOML."""
    try:
        name = tomllib.loads(manifest.decode("utf-8"))["package"]["metadata"]["sglang"][
            "python-module"
        ]
    except (ValueError, KeyError, TypeError):
        return ""
    return str(name)
