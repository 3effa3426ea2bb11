"""Imports of the package's modules, in functions and for types too, and names of `__all__`, find something."""

from __future__ import annotations

from shrinker.check.registry import Seen
from shrinker.check.trees import Trees


def imports(trees: Trees, seen: Seen) -> None:
    """Each import of a module of the package, or of a name of one."""
    ours, theirs = trees.modules, trees.source_modules
    for symbols in trees.kept:
        if symbols.error is not None:
            there = theirs.symbols(symbols.module) if symbols.module is not None else None
            same = there is not None and there.error is not None
            seen.find(symbols.path, 0, f"cannot be parsed: {symbols.error}", inherited=same)
        seen.look(len(symbols.imports))
        for line, module, name in symbols.imports:
            lost = name is not None and ours.lost(theirs, module, name)
            if lost or not ours.imports(module, name):
                what = f"{module}.{name}" if module in ours and name is not None else module
                inherited = not theirs.imports(module, name)
                seen.find(symbols.path, line, f"nothing in this tree is {what}", inherited=inherited)


def module_attributes(trees: Trees, seen: Seen) -> None:
    """Each ``module.name`` on an imported module of the package."""
    ours, theirs = trees.modules, trees.source_modules
    for symbols in trees.kept:
        seen.look(len(symbols.attributes))
        for use in symbols.attributes:
            lacking = None if use.stored else ours.attribute(use.target, use.chain)
            if lacking is not None:
                inherited = theirs.attribute(use.target, use.chain) == lacking
                seen.find(symbols.path, use.line, f"module {lacking[0]} has no {lacking[1]!r}", inherited=inherited)


def exported_names(trees: Trees, seen: Seen) -> None:
    """Each text of ``__all__``."""
    for symbols in trees.kept:
        seen.look(len(symbols.exports or ()))
        for name, line in symbols.exports or ():
            if symbols.module is not None and not trees.modules.imports(symbols.module, name):
                inherited = not trees.source_modules.imports(symbols.module, name)
                seen.find(symbols.path, line, f"__all__ names {name!r}, which is not defined", inherited=inherited)
