"""Commands that installing the package makes: each calls something of a module, which must be there."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from shrinker.check.resolve import Modules
from shrinker.values.outcome import Finding

DECLARED = "python/pyproject.toml"


def lost_commands(
    out: Path, scripts: Mapping[str, str], generated: Modules, upstream: Modules
) -> tuple[int, list[Finding]]:
    """Commands of the generated package that call nothing, and those of upstream whose module is there and that are not declared.

    Args:
        out: the generated tree.
        scripts: upstream's commands: name to ``module:attribute``.
        generated, upstream: modules of both trees.

    Returns:
        How many commands were looked at, and the findings.
    """
    try:
        project = tomllib.loads((out / DECLARED).read_text("utf-8")).get("project", {})
    except FileNotFoundError:
        # A release declares its commands elsewhere.
        return 0, []
    except (OSError, ValueError) as error:
        return 0, [Finding("commands", DECLARED, 0, f"cannot be read: {error}")]
    declared: dict[str, str] = project.get("scripts", {})
    findings = [
        Finding("commands", DECLARED, 0, f"the command {name} calls {target}, which is not there")
        for name, target in sorted(declared.items())
        if not generated.dotted_path(target) and (upstream.dotted_path(target) or scripts.get(name) != target)
    ]
    findings += [
        Finding("commands", DECLARED, 0, f"the command {name} is gone, but {target.partition(':')[0]} is there")
        for name, target in sorted(scripts.items())
        if declared.get(name) != target and target.partition(":")[0] in generated
    ]
    return len(declared.keys() | scripts.keys()), findings
