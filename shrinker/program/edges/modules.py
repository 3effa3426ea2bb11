"""Edges to modules: what rules name, imports, and package walks, code that imports every module it
finds in a package, which `[[walk]]` narrows.

A pattern of a `[[root]]` or `[[keep]]` over modules names exactly what it matches: ``sglang.x`` the
module, ``sglang.x.**`` all below it. One over paths names a file or a folder with all below it.

Imports are ``import``, ``from … import`` of a submodule or a name, star imports, and the parents'
``__init__``; of distributions outside the tree, one node a top-level name; and of names of the
kernel libraries among them, one node a name: ``kernel:sgl_kernel.rmsnorm``. The standard library
has none. Subtle: ``from package import name`` keeps the submodule `name` also when
``package/__init__`` defines that name, since which of the two it is can depend on what was imported
before.
"""

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence

from shrinker.program.nodes import Found, ModuleIndex, module_node, path_node
from shrinker.ruleset import Keep, Root, Ruleset, path_matches
from shrinker.ruleset.match import name_matches
from shrinker.values.folded import FoldedModule
from shrinker.values.upstream import PACKAGE, UpstreamTree

# Gone since 3.11 or come since: without them the list of external distributions would depend on the
# interpreter.
_NAMES = """
aifc annotationlib asynchat asyncore audioop cgi cgitb chunk compression crypt distutils imghdr imp lib2to3 mailcap
msilib nis nntplib ossaudiodev pipes sndhdr smtpd spwd sunau telnetlib tomllib uu xdrlib
"""
STANDARD = sys.stdlib_module_names | frozenset(_NAMES.split())
"""Top-level names of modules that ship with CPython 3.11 or later."""
LIBRARIES = ("sgl_kernel", "flashinfer", "deep_gemm", "deep_ep")
"""Top-level names; ``flashinfer`` also stands for ``flashinfer_*``."""


def import_edges(module: FoldedModule, index: ModuleIndex) -> Iterator[Found]:
    """Yield edges of every import that folding left."""
    for site in module.imports:
        if site.module.partition(".")[0] != PACKAGE:
            continue
        # A missing module raises where it is imported, but what leads to it is imported first.
        found, rest = index.prefix(site.module)
        for dotted in (
            (found,) if rest or site.name in (None, "*") else (found, f"{site.module}.{site.name}")
        ):
            for node, kind in index.nodes(dotted):
                yield Found(node, kind or site.kind, site.line)


def star_edges(module: FoldedModule, index: ModuleIndex) -> Iterator[Found]:
    """Submodules that ``__all__`` of a star-imported package may name: its strings that
    equal one.
    """
    for site in module.strings if module.is_package else ():
        dotted = f"{module.module}.{site.text}"
        if site.text.isidentifier() and dotted in index.paths:
            yield Found(
                module_node(dotted), "string", site.line, f"star import may load {site.text!r}"
            )


def outside_edges(module: FoldedModule) -> Iterator[Found]:
    """Yield edges to ``external:<top-level name>``, also of `import_module` with a literal name,
    and to
    kernels: ``import library`` and a star give the library's own node.
    """
    calls = [
        (call.target or "*", call.line)
        for call in module.dynamic
        if call.mechanism == "import_module"
    ]
    for dotted, line in (*((site.module, site.line) for site in module.imports), *calls):
        top = dotted.partition(".")[0]
        if top and top != PACKAGE and "*" not in dotted and top not in STANDARD:
            yield Found(f"external:{top}", "external", line)
    for site in module.imports:
        if kernel_library(site.module) is not None:
            name = site.module if site.name in (None, "*") else f"{site.module}.{site.name}"
            yield Found(f"kernel:{name}", "kernel", site.line)


def kernel_library(module: str) -> str | None:
    """Return the kernel library that a dotted module belongs to, if any."""
    top = module.partition(".")[0]
    return next((name for name in LIBRARIES if top == name or top.startswith(name + "_")), None)


def named_modules(pattern: str, index: ModuleIndex) -> list[str]:
    """Return modules of the tree that a root or keep pattern names, sorted."""
    if "*" not in pattern:
        return [pattern] if pattern in index.paths else []
    return [name for name in sorted(index.paths) if name_matches(pattern, name)]


def missing_roots(tree: UpstreamTree, rules: Ruleset) -> tuple[tuple[str, str], ...]:
    """Root modules that this upstream does not have, as (rule id, pattern); the search starts
    without them.
    """
    index = ModuleIndex(tree.by_path)
    return tuple(
        (rule.id, pattern)
        for rule in rules.roots
        for pattern in rule.modules
        if not named_modules(pattern, index)
    )


def rule_targets(rule: Root | Keep, index: ModuleIndex, paths: Sequence[str]) -> Iterator[str]:
    """Yield nodes that the rule names, of all paths of the tree."""
    for pattern in rule.modules:
        yield from map(module_node, named_modules(pattern, index))
    # Most patterns start with a literal folder, most paths are elsewhere.
    heads = tuple(pattern.partition("*")[0].rstrip("/") for pattern in rule.paths)
    for path in paths:
        if path.startswith(heads) and any(path_matches(pattern, path) for pattern in rule.paths):
            yield path_node(path)


def walk_edges(
    modules: Mapping[str, FoldedModule],
    importers: Mapping[str, Collection[str]],
    by_package: Mapping[str, tuple[str, ...]],
    index: ModuleIndex,
) -> Iterator[tuple[str, Found]]:
    """Yield edges of all walks in the modules kept so far, each with the module where it starts;
    walks find what `Ruleset.walked` says. A walk often receives its package as an argument: then
    the packages named by strings of the walking module and of its importers are its targets.
    """
    walks = (
        (name, site)
        for name in modules
        for site in modules[name].dynamic
        if site.mechanism == "walk"
    )
    for name, site in walks:
        if site.target is not None and site.target.strip("*."):
            asked = [
                (name, site.line, each)
                for each in index.packages
                if name_matches(site.target, each)
            ]
        else:
            texts = (
                (origin, s)
                for origin in (name, *importers.get(name, ()))
                for s in modules[origin].strings
            )
            asked = [
                (o, s.line, s.text) for o, s in texts if s.text in index.packages and "." in s.text
            ]
        for origin, line, package in asked:
            found = [name for name in index.paths if name.startswith(f"{package}.")]
            if "iter_modules" in site.text:
                # It sees one level, `walk_packages` and anything unknown see all.
                found = [name for name in found if name.rpartition(".")[0] == package]
            kept, weak = by_package.get(package), ""
            if kept is None:
                kept, weak = ("**",), f"walk over `{package}`, which no [[walk]] rule narrows"
            for name in found:
                # What stays for another reason lies in the folder, too: the walk finds it there.
                meant = any(
                    name_matches(pattern, name.removeprefix(f"{package}.")) for pattern in kept
                )
                if meant or name in modules:
                    yield origin, Found(module_node(name), "walk", line, weak)
