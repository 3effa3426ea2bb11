"""Which `[[remove]]` rule takes a file, decided once for the whole tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from shrinker.program.tuning import fits
from shrinker.ruleset import Remove
from shrinker.ruleset.match import any_name_matches, any_path_matches
from shrinker.values.upstream import PACKAGE_PREFIX, module_name


def removed_by_rule(paths: Iterable[str], rules: Sequence[Remove]) -> dict[str, Remove]:
    """Map every path that a rule takes to the first rule, in file order, that takes it.

    A Python module is matched by its dotted name; any file by the dotted name of its package folder, so that the
    data of a removed package goes with it; and by its path.
    """
    return dict(_removed(tuple(paths), tuple(rules)))


@lru_cache(maxsize=2)
def _removed(paths: tuple[str, ...], rules: tuple[Remove, ...]) -> dict[str, Remove]:
    """Asked for again whenever a refinement of the folded modules builds the graph anew."""
    matchers = [(rule, _matcher(rule.modules, rule.paths), _matcher(rule.unless, rule.unless)) for rule in rules]
    out: dict[str, Remove] = {}
    for path in paths:
        dotted = _dotted(path)
        for rule, takes, spares in matchers:
            if (
                takes(dotted, path)
                and not (rule.unless and spares(dotted, path))
                and not (rule.shapes and fits(path, rule.shapes))
            ):
                out[path] = rule
                break
    return out


def _dotted(path: str) -> str:
    name = module_name(path)
    if name is not None:
        return name
    if not path.startswith(PACKAGE_PREFIX):
        return ""
    return path[len("python/") :].rpartition("/")[0].replace("/", ".")


def _matcher(modules: Sequence[str], paths: Sequence[str]) -> Callable[[str, str], bool]:
    # Folders repeat: each is matched once and remembered.
    patterns, names = tuple(paths), tuple(modules)
    known_modules: dict[str, bool] = {"": False}
    known_folders: dict[str, bool] = {"": False}

    def module(dotted: str) -> bool:
        answer = known_modules.get(dotted)
        if answer is None:
            answer = module(dotted.rpartition(".")[0]) or any_name_matches(names, dotted)
            known_modules[dotted] = answer
        return answer

    def folder(path: str) -> bool:
        answer = known_folders.get(path)
        if answer is None:
            answer = any_path_matches(patterns, path)
            known_folders[path] = answer
        return answer

    def match(dotted: str, path: str) -> bool:
        if modules and dotted and module(dotted):
            return True
        if not paths:
            return False
        return folder(path.rpartition("/")[0]) or any_path_matches(patterns, path)

    return match
