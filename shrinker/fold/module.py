"""Fold one file: parse, decide, clean up, summarise.

Pure: the same bytes and facts give the same value.
"""

import ast
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from shrinker.facts.environment import Environment, outline_file
from shrinker.facts.outline import Outline
from shrinker.facts.scopes import ModuleScope, removed_names
from shrinker.fold import constructs
from shrinker.fold.cleanup import drop_unused, drop_unused_locals
from shrinker.fold.context import Context, LeavesWhole
from shrinker.fold.exports import drop_removed_rows
from shrinker.fold.prefilter import heat
from shrinker.fold.refinement import decide_attributes, drop_stores, drop_unreachable
from shrinker.fold.statements import StatementFolder
from shrinker.fold.summary import summarise
from shrinker.fold.symbols.collect import collect_symbols
from shrinker.fold.written import Look, find_looks, place_looks, replace_defaults
from shrinker.syntax.imports import Import, absolute, package_of
from shrinker.syntax.parsing import decode
from shrinker.syntax.walk import walk
from shrinker.values.edits import Span
from shrinker.values.folded import EMPTY_SYMBOLS, NOTHING, FoldedModule, Refinement, Uncertain
from shrinker.values.form import digest
from shrinker.values.upstream import UpstreamTree, module_name

constructs.load()


def fold_source(
    path: str,
    module: str,
    is_package: bool,
    data: bytes,
    environment: Environment,
    refinement: Refinement = NOTHING,
) -> FoldedModule:
    """Fold one module, of a path in upstream's layout and a dotted name, with what propagation and
    the search found out for it. Raises SyntaxError: the file does not parse (with its line).
    """
    source, _ = decode(data)
    package = package_of(module, is_package)
    tree, context, looks = (
        ast.parse(data, path),
        Context(path, module, package, source, environment),
        list[Look](),
    )
    if refinement.unwritable:
        _leave(tree, context, refinement.unwritable)
    else:
        try:
            looks = find_looks(tree, context)
            replace_defaults(tree, context)
            _fold(tree, context, refinement)
        except LeavesWhole as reason:
            whole = replace(refinement, unwritable=frozenset({str(reason)}))
            return fold_source(path, module, is_package, data, environment, whole)
    named = summarise(tree, context)
    # What is dropped was chosen by the units from before.
    units = EMPTY_SYMBOLS if refinement.dead else collect_symbols(tree, package)
    place_looks(tree, looks, context)
    return FoldedModule(
        path=path,
        module=module,
        is_package=is_package,
        edits=tuple(context.edits),
        digest=digest(tree) if context.edits else "",
        decisions=tuple(context.decisions),
        uncertain=tuple(context.uncertain),
        escapes=tuple(context.escapes),
        units=units,
        whole=bool(refinement.unwritable),
        **named,
    )


def _fold(tree: ast.Module, context: Context, refinement: Refinement) -> None:
    environment = context.environment
    context.needed = refinement.needed
    scope = ModuleScope(environment, context.module, context.decided, during_import=True)
    drop_removed_rows(tree, context)
    decide_attributes(tree, refinement.attributes, context.decided)
    if heat(context, tree, frozenset(name for _, name, _ in refinement.attributes)):
        tree.body = StatementFolder(context, scope, "module").block(tree.body)
    drop_stores(tree, context, refinement.stores)
    if context.edits:
        drop_unused(tree, context)
        drop_unused_locals(tree, context)
        context.settle()
    drop_unreachable(tree, context, refinement.dead, refinement.loads)


def _leave(tree: ast.Module, context: Context, reasons: Iterable[str]) -> None:
    """Record why a module stays as upstream wrote it, and which removed modules it needs then: they
    stay, too.
    """
    uncertain = (f"what folding decides cannot be written: {reason}" for reason in sorted(reasons))
    context.uncertain.extend(Uncertain(context.path, 0, reason) for reason in uncertain)
    for node in walk(tree):
        if isinstance(node, Import):
            source = (
                absolute(node.module, node.level, context.package)
                if isinstance(node, ast.ImportFrom)
                else ""
            )
            names = node.names if source else ()
            parts = (
                (alias, context.environment.removed_module(f"{source}.{alias.name}"))
                for alias in names
            )
            for alias, removed in (*removed_names(node, source, context.environment), *parts):
                if removed is not None and removed.module:
                    context.escape(alias, removed)


# Packages that travel beside the served one


def fold_companions(
    tree: UpstreamTree,
    environment: Environment,
    kept: Collection[str],
    dead: Mapping[str, frozenset[Span]] | None = None,
    loads: Mapping[str, frozenset[Span]] | None = None,
) -> dict[str, FoldedModule]:
    """Folded modules of the packages beside the served one that the rules name (the Python of its
    kernel library), by path, sorted.

    Which files of them are kept is for `root` and `keep` rules: here only their branches are
    decided, by the same facts. They see the served package; it does not see them, so that a
    release, which comes without them, gives the same Python as its commit.

    Args:
        environment: the closed world of the served package.
        kept: paths of all kept files.
        dead: statements and imported names that nothing names, by path; of the other modules the
            units are collected.
        loads: those imported names of which the module is loaded all the same, by path.
    """
    names: dict[str, str] = {}
    for rule in environment.rules.companions:
        around, _, _ = rule.folder.rpartition("/")
        for path in kept:
            if path.startswith(rule.folder + "/") and path.endswith(".py"):
                dotted = path[len(around) + bool(around) : -len(".py")].replace("/", ".")
                names[path] = dotted.removesuffix(".__init__")
    if not names:
        return {}
    outlines: dict[str, Outline] = {}
    # Tests and benchmarks beside a companion import from it: what they ask for stays.
    for path in sorted(p for p in kept if p.endswith(".py") and module_name(p) is None):
        name = names.get(path, path.removesuffix(".py").replace("/", "."))
        # One that does not parse stays as it is.
        if (found := outline_file(tree.root, path, name)) is not None:
            outlines[name] = found
    own = {part for name in names.values() for part in (name, name.rpartition(".")[0]) if part}
    known = {**environment.outlines, **outlines}
    world = Environment(environment.rules, known, environment.modules | own, environment.rescued)
    folded: dict[str, FoldedModule] = {}
    for path, name in sorted(names.items()):
        if name in outlines:
            gone = (dead or {}).get(path, frozenset())
            refinement = Refinement(dead=gone, loads=(loads or {}).get(path, frozenset()))
            folded[path] = fold_source(
                path, name, path.endswith("/__init__.py"), tree.read(path), world, refinement
            )
    return folded
