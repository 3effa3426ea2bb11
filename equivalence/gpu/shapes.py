"""What of a server is bound to its model's shapes: tuning tables by its log, kernels by its
profile.

Such a kernel or table is chosen by hidden size, heads, experts or block, so that a narrow model
never asks for it. `shapes.toml` has the patterns.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from equivalence.checkpoints.weights import weights

_DECLARED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_TABLES = {how: re.compile(pattern) for how, pattern in _DECLARED["tables"].items()}
_FAMILIES = {family: re.compile(pattern) for family, pattern in _DECLARED["kernels"].items()}
_WIDTHS = "names a width of the model"
_LARGEST_TILE = 1024
"""Up to this number a template argument may be a tile or a number of threads."""
_NUMBER = re.compile(r"(?<![\w.])\d+(?=[uU]?[lL]*(?![\w.]))")


def find_tables(log: str) -> dict[str, list[str]]:
    """List the tuning tables that a log says were loaded, and those that were looked for in vain.

    `Using MoE kernel config from /x/configs/triton_3_6_0/E=257,N=256.json.` becomes
    `{"loaded": ["triton_3_6_0/E=257,N=256.json"], "missing": []}`.
    """
    return {how: sorted(set(pattern.findall(log))) for how, pattern in _TABLES.items()}


def widths(config: Mapping[str, Any]) -> frozenset[int]:
    """Return the sizes of a model's linear layers that no tile has, alone and two of them fused."""
    shapes = [weight.shape for weight in weights(config) if weight.role == "linear"]
    single = set(chain.from_iterable(shapes))
    fused = {2 * size for size in single}
    return frozenset(size for size in single | fused if size > _LARGEST_TILE)


def group_kernels(names: Iterable[str], sizes: frozenset[int]) -> dict[str, list[str]]:
    """Return the kernels that are bound to shapes, by family.

    A kernel of no family counts where its name has one of the sizes, as in `gemm<7168, 2048>`.
    """
    found = defaultdict[str, list[str]](list)
    for name in sorted(names):
        family = next((one for one, pattern in _FAMILIES.items() if pattern.search(name)), None)
        if family:
            found[family].append(name)
        elif sizes.intersection(map(int, _NUMBER.findall(name))):
            found[_WIDTHS].append(name)
    return {family: found[family] for family in [*_FAMILIES, _WIDTHS] if family in found}


def compare_tables(
    upstream: Sequence[Mapping[str, Any]],
    generated: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the tables of both trees' servers, by what was seen of each server.

    `both` has those that some server of either tree asked for; `only_upstream` and `only_generated`
    those that every server of one tree asked for and none of the other's. Empty where a server was
    seen before tables were written down.
    """
    if not all("tables" in seen for seen in (*upstream, *generated)):
        return {}
    mine, theirs = ([_listed(seen["tables"]) for seen in side] for side in (upstream, generated))
    some, others = set[str]().union(*mine), set[str]().union(*theirs)
    return {
        "both": sorted(some & others),
        "only_upstream": sorted(set.intersection(*mine) - others),
        "only_generated": sorted(set.intersection(*theirs) - some),
    }


def _listed(tables: Mapping[str, Sequence[str]]) -> set[str]:
    return {f"{how} {name}" for how, names in tables.items() for name in names}
