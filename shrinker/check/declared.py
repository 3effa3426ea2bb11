"""What the declarations of kept packages name is there: commands that installing makes, and sources of crates' targets."""

import posixpath
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from shrinker.check.trees import Seen, Trees

DECLARED = "python/pyproject.toml"
_FILE = "Cargo.toml"
_PLACES = {
    "lib": ("src/lib.rs",),
    "bin": ("src/main.rs", "src/bin/{}.rs", "src/bin/{}/main.rs"),
    "bench": ("benches/{}.rs", "benches/{}/main.rs"),
    "test": ("tests/{}.rs", "tests/{}/main.rs"),
    "example": ("examples/{}.rs", "examples/{}/main.rs"),
}
"""Kinds of targets, and where cargo looks for one that names no path."""


def lost_commands(trees: Trees, seen: Seen) -> None:
    """Commands of the generated package that call nothing, and those of upstream whose module is there and that are not declared."""
    # A release declares its commands elsewhere.
    declared = _read(DECLARED, trees, seen) if (trees.out / DECLARED).exists() else None
    if declared is None:
        return
    scripts: Mapping[str, str] = trees.source.declared.scripts
    commands: dict[str, str] = declared.get("project", {}).get("scripts", {})
    seen.look(len(commands.keys() | scripts.keys()))
    ours, theirs = trees.modules, trees.source_modules
    for name, target in commands.items():
        if not ours.dotted_path(target) and (theirs.dotted_path(target) or scripts.get(name) != target):
            seen.find(DECLARED, 0, f"the command {name} calls {target}, which is not there")
    for name, target in scripts.items() - commands.items():
        if (module := target.partition(":")[0]) in ours:
            seen.find(DECLARED, 0, f"the command {name} is gone, but {module} is there")


def lost_targets(trees: Trees, seen: Seen) -> None:
    """Targets and build scripts that a kept Cargo.toml names and that upstream has."""
    for path in (path for path in trees.recorded if path.rpartition("/")[2] == _FILE):
        for what, places in _named(_read(path, trees, seen) or {}):
            theirs = {posixpath.normpath(posixpath.join(path.rpartition("/")[0], place)) for place in places}
            if theirs & trees.source.by_path.keys():
                seen.look()
                if theirs.isdisjoint(trees.recorded):
                    seen.find(path, 0, f"names {what}, whose source is not in this tree: {min(theirs)}")


def _read(path: str, trees: Trees, seen: Seen) -> dict[str, Any] | None:
    try:
        return tomllib.loads((trees.out / path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        seen.find(path, 0, f"cannot be read: {error}")
        return None


def _named(declared: dict[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for kind, places in _PLACES.items():
        targets = declared.get(kind, [])
        for target in [targets] if isinstance(targets, dict) else targets:
            name = target.get("name", "")
            where = (target["path"],) if "path" in target else tuple(place.format(name) for place in places)
            yield f"the {kind} {name}".rstrip(), where
    if "package" in declared:
        yield "a build script", (str(declared["package"].get("build") or "build.rs"),)
    for name, needed in declared.get("dependencies", {}).items():
        if isinstance(needed, dict) and "path" in needed:
            yield f"the crate {name}", (f"{needed['path']}/{_FILE}",)
