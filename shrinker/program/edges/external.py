"""Imports of distributions outside the tree, one node a top-level name; the standard library has none."""

from __future__ import annotations

from collections.abc import Iterator

from shrinker.program.modules import ModuleIndex
from shrinker.program.nodes import Found
from shrinker.program.stdlib import is_standard
from shrinker.values.folded import FoldedModule


def external_edges(module: FoldedModule, index: ModuleIndex) -> Iterator[Found]:
    """Edges to ``external:<top-level name>``, also of `import_module` with a literal name."""
    for site in module.imports:
        top = site.module.partition(".")[0]
        if top and top != index.top and not is_standard(top):
            yield Found(f"external:{top}", "external", site.line)
    for call in module.dynamic:
        if call.mechanism == "import_module" and call.target and "*" not in call.target:
            top = call.target.partition(".")[0]
            if top and top != index.top and not is_standard(top):
                yield Found(f"external:{top}", "external", call.line)
