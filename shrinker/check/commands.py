"""Commands that installing the package makes: each calls something of a module, which must be there."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping

from shrinker.check.registry import Seen
from shrinker.check.trees import Trees

DECLARED = "python/pyproject.toml"


def lost_commands(trees: Trees, seen: Seen) -> None:
    """Commands of the generated package that call nothing, and those of upstream whose module is there and that are not declared."""
    try:
        project = tomllib.loads((trees.out / DECLARED).read_text("utf-8")).get("project", {})
    except FileNotFoundError:
        # A release declares its commands elsewhere.
        return
    except (OSError, ValueError) as error:
        seen.find(DECLARED, 0, f"cannot be read: {error}")
        return
    scripts: Mapping[str, str] = trees.source.declared.scripts
    declared: dict[str, str] = project.get("scripts", {})
    seen.look(len(declared.keys() | scripts.keys()))
    ours, theirs = trees.modules, trees.source_modules
    for name, target in sorted(declared.items()):
        if not ours.dotted_path(target) and (theirs.dotted_path(target) or scripts.get(name) != target):
            seen.find(DECLARED, 0, f"the command {name} calls {target}, which is not there")
    for name, target in sorted(scripts.items()):
        if declared.get(name) != target and target.partition(":")[0] in ours:
            seen.find(DECLARED, 0, f"the command {name} is gone, but {target.partition(':')[0]} is there")
