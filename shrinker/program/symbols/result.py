"""What is left of a search: units that go, and what they named."""

from __future__ import annotations

from collections.abc import Collection

from shrinker.program.symbols.lookups import Touch
from shrinker.program.symbols.reasons import Node, Reason
from shrinker.program.symbols.search import Search
from shrinker.values.edits import Span


def trace(search: Search) -> dict[tuple[Node, Node], Reason]:
    """What each unit that is not live names, after the search."""
    found: dict[tuple[Node, Node], Reason] = {}
    for name, module in search.program.modules.items():
        for number, unit in enumerate(module.units):
            key = (name, number)
            if key in search.live:
                continue
            owner = search.owner(key)
            for path, line in unit.uses:
                for touch in search.types.follow(name, owner, path, number).touches:
                    target = _target(touch)
                    if target is not None:
                        found.setdefault((key, target), Reason(key, "name", line))
            for text, line in unit.texts:
                found.setdefault((key, f"name:{text}"), Reason(key, "string", line))
            for source, imported, line in unit.imports:
                for touch in search.types.imported(source, imported).touches if imported != "*" else ():
                    target = _target(touch)
                    if target is not None:
                        found.setdefault((key, target), Reason(key, "import", line))
    return found


def _target(touch: Touch) -> Node | None:
    match touch.kind:
        case "unit" | "member" | "borrowed":
            return touch.module, touch.unit
        case "name":
            return f"name:{touch.name}"
    return None


def dead_units(search: Search) -> dict[str, list[int]]:
    """Symbols of loaded modules that nothing live can name, by module; of a dead class or block only itself."""
    out: dict[str, list[int]] = {}
    for name, module in search.program.modules.items():
        if name not in search.loaded:
            continue
        found = [
            number
            for number, unit in enumerate(module.units)
            if (name, number) not in search.live
            and (unit.parent < 0 or (name, unit.parent) in search.live)
            and (unit.names or unit.kind in ("if", "main"))
        ]
        if found:
            out[name] = found
    return out


def dead_entries(search: Search, modules: Collection[str]) -> dict[str, list[Span]]:
    """Entries of ``__all__`` that are submodules which nothing loads, by module: a star import would look for them.

    Args:
        search: after it ran.
        modules: all modules of upstream, by dotted name.
    """
    out: dict[str, list[Span]] = {}
    for name, module in search.program.modules.items():
        if name not in search.loaded or name in search.outside.stay or "__getattr__" in module.symbols:
            continue
        found = [
            span
            for entry, span in module.entries
            if f"{name}.{entry}" in modules
            and f"{name}.{entry}" not in search.loaded
            and not search.program.bound(name, entry)
        ]
        if found:
            out[name] = found
    return out
