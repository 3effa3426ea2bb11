"""Strings of kept code that name something which the tree no longer holds: dotted paths and data files."""

from __future__ import annotations

from collections import defaultdict

from shrinker.check.refused import TABLE
from shrinker.check.registry import Seen
from shrinker.check.trees import Trees
from shrinker.values.upstream import PACKAGE_PREFIX


def dangling_paths(trees: Trees, seen: Seen) -> None:
    """Dotted paths into the package that resolve in upstream and not here.

    The table of removed modules is left out: what the tree has not is what it names.
    """
    ours, theirs = trees.modules, trees.source_modules
    for symbols in trees.kept:
        for line, text in symbols.paths if symbols.path != TABLE else ():
            seen.look()
            if ":" in text and not ours.dotted_path(text.partition(":")[0]):
                continue  # The module alone was reported, in the string that names it.
            if not ours.dotted_path(text) and theirs.dotted_path(text):
                message = f"the string {text!r} names something that upstream has and this tree has not"
                seen.find(symbols.path, line, message)


def missing_data_files(trees: Trees, seen: Seen) -> None:
    """Strings with the name of a file of upstream that is not Python: next to their module or in its package is one that is kept."""
    kept = frozenset(path for path in trees.recorded if not path.endswith(".py"))
    here: set[str] = set()
    removed: dict[str, list[str]] = defaultdict(list)
    for path in trees.source.by_path:
        if not path.endswith(".py"):
            name = path.rpartition("/")[2]
            if path in kept:
                here.add(name)
            else:
                removed[name].append(path)
    for symbols in trees.kept:
        for line, text in symbols.files:
            name = text.rpartition("/")[2]
            if name not in here and name not in removed:
                continue
            seen.look()
            lost = [path for path in removed.get(name, ()) if _names(text, symbols.path, path)]
            if lost and not any(_names(text, symbols.path, p) for p in kept if p.endswith("/" + name)):
                seen.find(symbols.path, line, f"the string {text!r} names {lost[0]}, which is not in this tree")


def _names(text: str, module_path: str, file: str) -> bool:
    """May `text`, written in a module, mean `file`? A base name: in the module's folder or below it.

    A path of several parts: below any package that holds the module, at any depth.
    """
    folder = module_path.rpartition("/")[0] + "/"
    wanted = text.lstrip("./")
    if "/" in wanted:
        top = PACKAGE_PREFIX if module_path.startswith(PACKAGE_PREFIX) else folder
        return file.startswith(top) and file.endswith("/" + wanted)
    if folder == PACKAGE_PREFIX:
        # Below the package's root lies everything; there a base name means a file of that folder.
        return file == folder + wanted
    return file.startswith(folder) and file.endswith("/" + wanted)
