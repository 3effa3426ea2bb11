"""Which `[[remove]]` rule takes a file, decided once for the whole tree.

Tuning tables of kernels for mixtures of experts are found at run time by a name that says the
shape. With expert parallelism a process holds a share of the experts, redundant ones among them,
and perhaps shared ones that are fused into the routed; with tensor parallelism a share of each
expert's width. All shares are taken to occur.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache

from shrinker.ruleset import Remove
from shrinker.ruleset.match import any_module_matches, any_path_matches
from shrinker.ruleset.models import Shape
from shrinker.values.upstream import PACKAGE_PREFIX, compiled_modules, module_name


def removed_by_rule(paths: Iterable[str], rules: Sequence[Remove]) -> dict[str, Remove]:
    """Map every path that a rule takes to the first rule, in file order, that takes it.

    A module is matched by its dotted name; any other file by the dotted name of its package folder,
    so that the data of a removed package goes with it, and a compiled module by both; and each by
    its path.
    """
    named = ((path, _dotted(path)) for path in paths)
    taking = (
        (path, next((rule for rule in rules if _takes(rule, names, path)), None))
        for path, names in named
    )
    return {path: rule for path, rule in taking if rule is not None}


def _takes(rule: Remove, dotted: Sequence[str], path: str) -> bool:
    if not _names(rule.modules, rule.paths, dotted, path) or _names(
        rule.unless, rule.unless, dotted, path
    ):
        return False
    return not (rule.shapes and _fits(path, rule.shapes))


def _names(
    modules: tuple[str, ...], paths: tuple[str, ...], dotted: Sequence[str], path: str
) -> bool:
    return any(any_module_matches(modules, name) for name in dotted) or any_path_matches(
        paths, path
    )


def _dotted(path: str) -> tuple[str, ...]:
    """By what names of modules a rule may mean a file."""
    name = module_name(path)
    if name is not None or not path.startswith(PACKAGE_PREFIX):
        return () if name is None else (name,)
    folder = path.removeprefix("python/").rpartition("/")[0]
    return (folder.replace("/", "."), *compiled_modules([path]))


_NAMED = re.compile(r"E=(\d+),N=(\d+),device_name=[^,]+(?:,.*)?\.json")
_REDUNDANT = 128
"""More redundant experts than any layout has."""
_SHARED = 8
_SHARES = 320
"""Ranks that experts are spread over: no more than there are, redundant ones included."""
_PARTS = 64
"""Ranks that an expert's width is split over."""


def _fits(path: str, shapes: Iterable[Shape]) -> bool:
    """True for a file that one of the models may look up, and for one whose name says no shape."""
    named = _NAMED.fullmatch(path.rpartition("/")[2])
    if named is None:
        return True
    experts, width = int(named[1]), int(named[2])
    return any(
        experts in _experts(shape.experts) and width in _widths(shape.width) for shape in shapes
    )


@cache
def _experts(routed: int) -> frozenset[int]:
    shares = {
        (routed + redundant) // ranks
        for redundant in range(_REDUNDANT + 1)
        for ranks in range(1, _SHARES + 1)
        if (routed + redundant) % ranks == 0
    }
    return frozenset(share + shared for share in shares for shared in range(_SHARED + 1))


@cache
def _widths(width: int) -> frozenset[int]:
    return frozenset(width // parts for parts in range(1, _PARTS + 1) if width % parts == 0)
