"""What is decided once nothing else is left to visit: imports that must run, methods that only code outside can be for."""

from __future__ import annotations

from shrinker.program.symbols.loading import Loading
from shrinker.program.symbols.reasons import Reason
from shrinker.program.symbols.search import Search


def run(search: Search) -> None:
    """Search to the fixpoint."""
    search.start()
    search.drain()
    while _settle_imports(search) or _settle_unnamed(search):
        search.drain()


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
                beside.update(targets)
                # What it loads may load more: before the next import is looked at.
                search.drain()
                loading.refresh()
                found = True
    return found


def _settle_unnamed(search: Search) -> bool:
    """A public method that no code of upstream names is there for code outside: it stays with its class."""
    names = frozenset(
        unit.names[0]
        for name, module in search.program.modules.items()
        for number, unit in enumerate(module.units)
        if unit.kind == "member" and (name, number) not in search.live
        if (name, unit.parent) in search.live
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
