"""What is decided once nothing else is left to visit: imports that must run, methods that only code outside can be for."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from shrinker.program.symbols.loading import Loading
from shrinker.program.symbols.reasons import Reason
from shrinker.program.symbols.search import Search
from shrinker.values.symbols import Symbol


def run(search: Search) -> None:
    """Search to the fixpoint."""
    search.start()
    search.drain()
    while _settle_imports(search) or _settle_unnamed(search):
        search.drain()
    _release_imports(search)
    _release_names(search)


def _settle_imports(search: Search) -> bool:
    """Keep one name of each import that must run for what it loads; True when there was something to do."""
    found = False
    loading = Loading(search.program, search.live)
    for name in search.program.order:
        if name not in search.loaded:
            continue
        beside = set(loading.direct(name))
        before = loading.before(name)
        for number, unit in enumerate(search.program.modules[name].units):
            if unit.kind != "import" or "typing" in unit.flags or (name, number) in search.live:
                continue
            # That a module is loaded elsewhere says nothing of when: a function may do it, which nothing calls.
            targets = [t for t in search.program.loads(*unit.imports[0][:2]) if t not in beside]
            if any(loading.matters(t, before, beside) for t in targets):
                search.keep((name, number), Reason(f"module:{name}", "import", unit.span.line))
                search.settled.append((name, number))
                beside.update(targets)
                # What it loads may load more: before the next import is looked at.
                search.drain()
                loading.refresh()
                found = True
    return found


def _release_imports(search: Search) -> None:
    """Give up imports that were kept for what they load, and that what was kept after them made needless.

    One after the other, each with those before already gone, so that two never go because of each other.
    """
    modules = search.program.modules
    loading = Loading(search.program, search.live, settled=True)
    named = {target for source, target in search.edges if isinstance(target, tuple) and source != f"module:{target[0]}"}
    for key in search.settled:
        name, number = key
        if key in named:
            # What it loads has named it since.
            continue
        unit = modules[name].units[number]
        targets = search.program.loads(*unit.imports[0][:2])
        # Most are needed even if nothing else went: asked first, since that costs no new state.
        beside = loading.beside(key)
        before = loading.before(name)
        if any(loading.matters(t, before, beside) for t in targets):
            continue
        reason = search.live.pop(key)
        without = Loading(search.program, search.live, settled=True)
        if any(without.matters(t, without.before(name), without.direct(name)) for t in targets):
            search.live[key] = reason
            continue
        search.edges.pop((reason.source, key), None)
        loading = without


def _release_names(search: Search) -> None:
    """Give up names from outside the tree that only code which goes reads, where another import of the module is named.

    That one loads the module all the same: one of the same statement, one above it, or one below with nothing but
    imports of the module between them. A name that no code of the module reads stays: it may be there for what it loads.
    """
    named = {target for source, target in search.edges if isinstance(target, tuple) and source != f"module:{target[0]}"}
    for name in search.program.order:
        if name not in search.loaded:
            continue
        units = search.program.modules[name].units
        imports = [(n, u) for n, u in enumerate(units) if u.kind == "import" and u.imports[0][1] not in ("", "*")]
        idle = [(n, u) for n, u in imports if (name, n) in search.live and (name, n) not in named]
        idle = [(n, u) for n, u in idle if not search.program.is_module(u.imports[0][0])]
        asked = {number for number, _ in enumerate(units) if (name, number) in named} if idle else set()
        idle = [(n, u) for n, u in idle if _is_loaded_by_another(n, units, asked)]
        if not idle:
            continue
        lost = {
            path.partition(".")[0]
            for number, unit in enumerate(units)
            if (name, number) not in search.live
            for path, _ in unit.uses
        }
        for number, unit in idle:
            if unit.names[0] in lost:
                reason = search.live.pop((name, number))
                search.edges.pop((reason.source, (name, number)), None)


def _is_loaded_by_another(number: int, units: Sequence[Symbol], named: Collection[int]) -> bool:
    """Whether a named import loads the module of this one, and no later than before anything else happens."""
    own = units[number]

    def loads_it(other: Symbol) -> bool:
        return (
            other.kind == "import"
            and "typing" not in other.flags
            and other.parent == own.parent
            and other.imports[0][0] == own.imports[0][0]
        )

    if any(loads_it(unit) and n in named for n, unit in enumerate(units[:number])):
        return True
    for n in range(number + 1, len(units)):
        if not loads_it(units[n]):
            return False
        if n in named:
            return True
    return False


def _settle_unnamed(search: Search) -> bool:
    """A public method that no code of upstream names is there for code outside: it stays with its class."""
    names = frozenset(
        unit.names[0]
        for name, module in search.program.modules.items()
        for number, unit in enumerate(module.units)
        if unit.kind == "member" and (name, number) not in search.live
        if (name, unit.parent) in search.live or (name, unit.parent) in search.awaited
        if not unit.names[0].startswith("_")
    )
    fresh = names - search.asked.keys()
    if fresh:
        named = search.outside.named(fresh)
        search.asked.update((name, named.get(name)) for name in fresh)
    found = sorted(name for name in names if search.asked[name] is None)
    for name in found:
        search.look_up(name, Reason("root:code outside", "outside"))
    return bool(found)
