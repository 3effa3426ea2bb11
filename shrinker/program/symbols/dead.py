"""From the kept modules and their file graph to what may go: the one entry to this package.

And what is decided once nothing else is left to visit: imports that must run, methods that only
code outside can be for.
"""

import re
import sys
from collections.abc import Collection, Iterable, Mapping

from shrinker.program.reach import IMPORT_KINDS
from shrinker.program.symbols.liveness import Named, Outside, Reason
from shrinker.program.symbols.program import Loading, Program
from shrinker.program.symbols.search import Search
from shrinker.program.symbols.types import Types
from shrinker.ruleset import Ruleset
from shrinker.values.edits import Span
from shrinker.values.folded import Folded, Symbol
from shrinker.values.graph import Graph
from shrinker.values.relations import grouped
from shrinker.values.texts import looked_up, names_in_data, without_comments, words_of
from shrinker.values.upstream import UpstreamTree, enclosing, module_name

_IMPORTED = re.compile(r"(?:from|import)\s+([A-Za-z_]\w*)")
_SETTINGS = (".cfg", ".ini", ".json", ".jsonl", ".toml", ".yaml", ".yml")
"""Endings of files of which code looks up what they hold as names of attributes."""
_DEEP = 20_000
"""Paths are followed recursively, through re-exports and classes."""


def search_symbols(
    tree: UpstreamTree,
    rules: Ruleset,
    graph: Graph,
    folded: Folded,
    named: Named,
    more: Iterable[str],
) -> Search:
    """Return everything that the roots can reach, of every kept module, by path with its units;
    `more` modules stay whatever it finds.
    """
    loading = [
        (edge, edge.dst.removeprefix("module:"))
        for edge in graph.edges
        if edge.dst.startswith("module:")
    ]
    modules = {module.module for module in folded.values()}
    top = {module.partition(".")[0] for module in modules}
    others = (path for path in graph.kept if path.endswith((".py", ".pyi")) and path not in folded)
    texts = ((path, tree.read(path).decode("utf-8", "replace")) for path in others)
    asking = [
        (path, without_comments(path, t))
        for path, t in texts
        if not top.isdisjoint(_IMPORTED.findall(t))
    ]
    targets = (target.partition(":") for target in tree.declared.scripts.values())
    outside = Outside(
        rules,
        # Of several the first.
        roots={name: edge.src for edge, name in reversed(loading) if edge.kind in ("root", "keep")},
        words=tuple((words_of(path, text), looked_up(text)) for path, text in asking),
        data=frozenset().union(
            *(names_in_data(tree.read(path)) for path in graph.kept if path.endswith(_SETTINGS))
        ),
        scripts=frozenset(
            (module, path) for module, _, path in targets if module in modules and path
        ),
        edges=grouped(
            (edge.src.removeprefix("module:"), (edge.line, edge.kind, name))
            for edge, name in loading
            if edge.src.startswith("module:") and edge.kind not in IMPORT_KINDS
        ),
        stay=frozenset(more),
        named=named,
    )
    return search_modules(folded, outside)


def search_modules(folded: Folded, outside: Outside) -> Search:
    """Return everything that what is outside of some modules, by path with their units, can reach
    in them.
    """
    inert = {
        *sys.stdlib_module_names,
        *(name for rule in outside.rules.outsides for name in rule.inert),
    }
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEP))
    try:
        search = Search(Types(Program(folded.values(), inert)), outside)
        search.start()
        search.drain()
        while (
            search.look_up_written()
            or search.keep_abstract()
            or _settle_imports(search)
            or search.hand_on_submodules()
            or _settle_unnamed(search)
        ):
            search.drain()
    finally:
        sys.setrecursionlimit(before)
    return search


def _settle_imports(search: Search) -> bool:
    """Keep one name of each import that must run for what it loads; True when there was something
    to do.
    """
    found, program = False, search.program
    acting = search.acting()
    setting = search.setting()
    loading = Loading(program, search.running(), acting, setting)
    for name in program.order:
        if name not in search.loaded:
            continue
        beside = set(loading.direct(name))
        before = loading.before(name) | {name}
        above: list[str] = []
        imports = [
            (key, unit) for key, unit in program.modules[name].keyed if unit.kind == "import"
        ]
        running = {
            _statement(unit) for key, unit in imports if key in search.live or key in search.alone
        }
        for key, unit in imports:
            if "typing" in unit.flags:
                continue
            loads = program.loads(*unit.imports[0][:2])
            if key not in search.live and key not in search.alone:
                # That a module is loaded elsewhere says nothing of when: a function may do it,
                # which nothing calls.
                targets = [t for t in loads if t not in beside]
                # From outside the tree a name goes that dead code used, so that it is there for its
                # use, while another one stays.
                foreign = any(map(program.is_foreign, loads)) and not (
                    _statement(unit) in running
                    and _is_used_by_dead_code(search, name, unit.names[0])
                )
                read = search.read_submodules(unit)
                source = unit.imports[0][0]
                same = {source, *enclosing(source)} if _statement(unit) in running else set()
                read = [
                    each
                    for each in read
                    if each not in same and not loading.is_done(each, before, above)
                ]
                fails = program.is_missing(*unit.imports[0][:2])
                if (
                    foreign
                    or fails
                    or read
                    or any(loading.matters(t, before, above, beside) for t in targets)
                ):
                    reason = Reason(f"module:{name}", "import", unit.span.line)
                    if foreign or fails or not _may_load_alone(search, name, unit):
                        search.keep(key, reason)
                    else:
                        search.load_alone(key, reason)
                    running.add(_statement(unit))
                    beside.update(targets)
                    # What it loads may load more: before the next import is looked at.
                    search.drain()
                    loading = Loading(program, search.running(), acting, setting)
                    found = True
            if (key in search.live or key in search.alone) and unit.parent < 0:
                above += program.sets(*unit.imports[0][:2])
    return found


def _may_load_alone(search: Search, module: str, unit: Symbol) -> bool:
    """Tell whether `import source` does all that is needed of ``from source import name``.

    The name is one that the source itself binds, which is all that the statement asks of it, and
    the importing module may bind the package that holds the source.
    """
    source, name, _ = unit.imports[0]
    program = search.program
    if (
        unit.parent >= 0
        or source not in program.modules
        or name not in program.modules[source].symbols
    ):
        return False
    if source == module or f"{source}.{name}" in program.loads(source, name):
        return False
    top = source.partition(".")[0]
    return all(
        "whole" in program.unit(key).flags for key in program.modules[module].symbols.get(top, ())
    )


def _statement(unit: Symbol) -> tuple[int, str, int]:
    """Return what the names of one import have in common: the block around it, its module and its
    line.
    """
    module, _, line = unit.imports[0]
    return unit.parent, module, line


def _is_used_by_dead_code(search: Search, module: str, name: str) -> bool:
    """Tell whether something of a module that is not live looks a name of the module up."""
    dead = (unit for key, unit in search.program.modules[module].keyed if key not in search.live)
    return any(path.partition(".")[0] == name for unit in dead for path, _ in unit.uses)


def _settle_unnamed(search: Search) -> bool:
    """Return a public method that no code of upstream names is there for code outside: it stays
    with its class.
    """
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


def dead_spans(search: Search, modules: Collection[str]) -> dict[str, frozenset[Span]]:
    """Return what nothing live can name, by path of its loaded module: statements and imported
    names, of a dead class or block only itself, and entries of ``__all__``; of all modules of
    upstream, by dotted name, once the search ran.
    """
    out: dict[str, frozenset[Span]] = {}
    for name, module in search.program.modules.items():
        if name not in search.loaded:
            continue
        dead = [unit for key, unit in module.keyed if key not in search.live]
        reached = (unit for unit in dead if unit.parent < 0 or (name, unit.parent) in search.live)
        found = {unit.span for unit in reached if unit.names or unit.kind in ("if", "main")}
        as_it_is = name in search.outside.stay or "__getattr__" in module.symbols
        for entry, span in () if as_it_is else module.entries:
            # A star import would look for a submodule that nothing loads.
            unloaded = f"{name}.{entry}" in modules and f"{name}.{entry}" not in search.loaded
            if unloaded and not search.program.bound(name, entry):
                found.add(span)
        if found:
            out[module.path] = frozenset(found)
    return out


def loading_spans(search: Search) -> dict[str, frozenset[Span]]:
    """Imported names that nothing live can name and of which the module is loaded all the same, by
    path.
    """
    modules = search.program.modules
    found = grouped((modules[key[0]].path, search.program.unit(key).span) for key in search.alone)
    return {path: frozenset(spans) for path, spans in found.items()}


def live_again(search: Search, dead: Mapping[str, frozenset[Span]]) -> frozenset[str]:
    """Return modules in which something is live although an earlier search found it dead, by path:
    it stays for what its import loads.
    """
    live = ((search.program.modules[key[0]], search.program.unit(key).span) for key in search.live)
    return frozenset(module.name for module, span in live if span in dead.get(module.path, ()))


class NamedPlaces:
    """Where the modules of upstream look names up or spell them; each name is looked for once."""

    def __init__(self, tree: UpstreamTree) -> None:
        self._tree = tree
        self._known: dict[str, tuple[str, int] | None] = {}

    def __call__(self, names: frozenset[str]) -> dict[str, tuple[str, int]]:
        """Return those of some names that a module does, with path and line of the first place."""
        left = {*names} - self._known.keys()
        # Made once, since it is as long as all of them.
        spelled = re.compile(rb"[.'\"](" + "|".join(sorted(left)).encode() + rb")\b")
        self._known.update(dict.fromkeys(left))
        for path in (file.path for file in self._tree.files if module_name(file.path) is not None):
            if not left:
                break
            data = self._tree.read(path)
            for found in spelled.finditer(data):
                if (name := found[1].decode()) in left:
                    self._known[name] = path, data.count(b"\n", 0, found.start()) + 1
                    left.remove(name)
        return {name: place for name in names if (place := self._known[name]) is not None}
