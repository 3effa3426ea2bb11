"""Strings of kept code that name something which the tree no longer holds: dotted paths and data files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from shrinker.check.resolve import Modules
from shrinker.check.symbols import ModuleSymbols
from shrinker.values.outcome import Finding
from shrinker.values.refusals import FILE as REFUSALS_FILE
from shrinker.values.upstream import PACKAGE_PREFIX

_REMOVED = f"{PACKAGE_PREFIX}{REFUSALS_FILE}"


def dangling_paths(kept: Iterable[ModuleSymbols], generated: Modules, upstream: Modules) -> tuple[int, list[Finding]]:
    """Dotted paths that resolve in upstream and not here. Returns how many were looked at, and those.

    The table of removed modules is left out: what the tree has not is what it names.
    """
    looked = 0
    findings: list[Finding] = []
    for symbols in kept:
        for line, text in symbols.paths if symbols.path != _REMOVED else ():
            looked += 1
            if ":" in text and not generated.dotted_path(text.partition(":")[0]):
                continue  # The module alone was reported, in the string that names it.
            if not generated.dotted_path(text) and upstream.dotted_path(text):
                message = f"the string {text!r} names something that upstream has and this tree has not"
                findings.append(Finding("string paths", symbols.path, line, message))
    return looked, findings


class DataFiles:
    """Files of upstream that are not Python, by base name, kept and removed."""

    def __init__(self, upstream: Iterable[str], generated: Iterable[str]) -> None:
        self._kept = frozenset(path for path in generated if not path.endswith(".py"))
        self._removed: dict[str, list[str]] = defaultdict(list)
        self._all: set[str] = set()
        for path in upstream:
            if path.endswith(".py"):
                continue
            name = path.rpartition("/")[2]
            self._all.add(name)
            if path not in self._kept:
                self._removed[name].append(path)

    def missing(self, kept: Iterable[ModuleSymbols]) -> tuple[int, list[Finding]]:
        """Strings that name a removed file next to their module or in its package, and no kept file.

        Returns how many strings that have the name of a file of upstream were looked at, and the findings.
        """
        looked = 0
        findings: list[Finding] = []
        for symbols in kept:
            for line, text in symbols.files:
                name = text.rpartition("/")[2]
                if name not in self._all:
                    continue
                looked += 1
                lost = [path for path in self._removed.get(name, ()) if _names(text, symbols.path, path)]
                if lost and not any(_names(text, symbols.path, p) for p in self._kept if p.endswith("/" + name)):
                    message = f"the string {text!r} names {lost[0]}, which is not in this tree"
                    findings.append(Finding("data files", symbols.path, line, message))
        return looked, findings


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
