"""What is decided once nothing else is left to visit: imports that must run, methods that only code outside can be for."""

from collections.abc import Collection, Iterable

from shrinker.program.symbols.liveness import Reason
from shrinker.program.symbols.program import Key, Program
from shrinker.program.symbols.search import Search
from shrinker.values.folded import Symbol
from shrinker.values.relations import reached
from shrinker.values.upstream import enclosing


class Loading:
    """What imports load in one state of a search, in which these units stay."""

    def __init__(self, program: Program, live: Collection[Key]) -> None:
        self._program = program
        self._live = live
        self._direct: dict[str, frozenset[str]] = {}
        self._reached: dict[frozenset[str], frozenset[str]] = {}

    def direct(self, name: str) -> frozenset[str]:
        """Modules that the live imports of a module load, with the packages around them."""
        if name not in self._direct:
            loads = (targets for key, targets in self._program.importing.get(name, ()) if key in self._live)
            self._direct[name] = frozenset().union(*loads)
        return self._direct[name]

    def before(self, name: str) -> frozenset[str]:
        """Modules that are certainly loaded before a module: the packages around it, and what those load without it."""
        found: set[str] = set()
        for around in enclosing(name):
            reached = self._reach((around,))
            found |= {around} if name in reached else reached
        return frozenset(found)

    def matters(self, target: str, before: frozenset[str], above: Iterable[str], beside: Iterable[str]) -> bool:
        """True when loading a module may do something that would not be done anyway, or in another order: beside what is loaded `before`
        the importer (which is among it), what the importer loads `above` the import, and what it loads `beside` that."""
        if target in before or target not in self._program.loud:
            return False
        before |= self._reach(above)
        if target in before:
            return False
        anyway = self._reach(beside)
        seen: set[str] = set()
        stack = [target]
        while stack:
            name = stack.pop()
            if name in seen or name in before:
                continue
            seen.add(name)
            # Modules in a cycle may load in one order only, and a package is loaded before its parts.
            cyclic = name in self._reach(self.direct(name))
            if name in anyway and not cyclic:
                continue
            if cyclic or name in self._program.acting:
                return True
            stack.extend(self._program.imports.get(name, ()))
        return False

    def _reach(self, names: Iterable[str]) -> frozenset[str]:
        start = frozenset(names)
        if start not in self._reached:
            self._reached[start] = frozenset(reached(start, self.direct))
        return self._reached[start]


def run(search: Search) -> None:
    """Search to the fixpoint."""
    search.start()
    search.drain()
    while _settle_imports(search) or _settle_unnamed(search):
        search.drain()


def _settle_imports(search: Search) -> bool:
    """Keep one name of each import that must run for what it loads; True when there was something to do."""
    found, program = False, search.program
    loading = Loading(program, search.live)
    for name in program.order:
        if name not in search.loaded:
            continue
        beside = set(loading.direct(name))
        before = loading.before(name) | {name}
        above: list[str] = []
        imports = [(key, unit) for key, unit in program.modules[name].keyed if unit.kind == "import"]
        running = {_statement(unit) for key, unit in imports if key in search.live}
        for key, unit in imports:
            if "typing" in unit.flags:
                continue
            loads = program.loads(*unit.imports[0][:2])
            if key not in search.live:
                # That a module is loaded elsewhere says nothing of when: a function may do it, which nothing calls.
                targets = [t for t in loads if t not in beside]
                # From outside the tree a name goes that dead code used, so that it is there for its use, while another one stays.
                foreign = any(map(program.is_foreign, loads)) and not (
                    _statement(unit) in running and _is_used_by_dead_code(search, name, unit.names[0])
                )
                if foreign or any(loading.matters(t, before, above, beside) for t in targets):
                    search.keep(key, Reason(f"module:{name}", "import", unit.span.line))
                    running.add(_statement(unit))
                    beside.update(targets)
                    # What it loads may load more: before the next import is looked at.
                    search.drain()
                    loading = Loading(program, search.live)
                    found = True
            if key in search.live and unit.parent < 0:
                above += loads
    return found


def _statement(unit: Symbol) -> tuple[int, str, int]:
    """What the names of one import have in common: the block around it, its module and its line."""
    module, _, line = unit.imports[0]
    return unit.parent, module, line


def _is_used_by_dead_code(search: Search, module: str, name: str) -> bool:
    """True when something of a module that is not live looks a name of the module up."""
    dead = (unit for key, unit in search.program.modules[module].keyed if key not in search.live)
    return any(path.partition(".")[0] == name for unit in dead for path, _ in unit.uses)


def _settle_unnamed(search: Search) -> bool:
    """A public method that no code of upstream names is there for code outside: it stays with its class."""
    names = frozenset(
        name
        for owner, members in search.program.members.items()
        if owner in search.live
        for name, keys in members.items()
        if not name.startswith("_") and any(key not in search.live for key in keys)
    )
    named = search.outside.named(names)
    search.asked.update((name, named.get(name)) for name in names)
    found = sorted(names - named.keys())
    for name in found:
        search.look_up(name, Reason("root:code outside", "outside"))
    return bool(found)
