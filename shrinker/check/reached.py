"""Ask for what kept code reaches without naming it where it stands.

It reaches names through a module that is held as a value, a submodule through the package around
it, and a local through the frame of its function. The engine has mechanisms of its own for these.
Here both trees are read again, and what went is held against what stayed.
"""

import ast
import importlib.util
import re
import sys
from collections.abc import Iterator

from shrinker.check.symbols import ModuleSymbols
from shrinker.check.trees import Seen, Trees
from shrinker.ruleset.match import any_module_matches, any_name_matches
from shrinker.syntax.control import OF_FRAMES, reads_a_frame
from shrinker.syntax.imports import absolute, package_of
from shrinker.syntax.names import assigned
from shrinker.syntax.parsing import parsed
from shrinker.syntax.walk import Function, definitions, walk
from shrinker.values.upstream import enclosing

_FRAME = re.compile(b"|".join(word.encode() for word in sorted(OF_FRAMES)))


def names_of_held_modules(trees: Trees, seen: Seen) -> None:
    """Find names that went from a module which kept code may hold as a value.

    `try: import sglang.fast as impl` binds such a module: no path leads from `impl.NAME` to it.
    """
    held = frozenset().union(*(symbols.held for symbols in trees.kept.values()))
    asked = {
        name: place for symbols in trees.kept.values() for name, place in _looked_up(symbols, trees)
    }
    for symbols, upstream in trees.pairs():
        if symbols.module not in held:
            continue
        for name, line in upstream.assigned:
            seen.look()
            if name not in symbols.bound and name in asked:
                path, where = asked[name]
                origin = f"(upstream: {symbols.path}:{line})"
                seen.find(
                    path, where, f"looks up {name!r}, which {symbols.module} no longer has {origin}"
                )


def _looked_up(symbols: ModuleSymbols, trees: Trees) -> Iterator[tuple[str, tuple[str, int]]]:
    """Give the names that a file looks up on what may be any module, each with its place."""
    for (name, on, owner), line in symbols.lookups.items():
        if on == "any" or (on == "named" and owner not in trees.modules):
            yield name, (symbols.path, line)


def loaded_submodules(trees: Trees, seen: Seen) -> None:
    """Find submodules of other packages that kept code reads and that no import loads any more.

    `import xml` and `xml.dom.minidom.parse(path)` need that some file imports `xml.dom.minidom`.
    """
    left = frozenset().union(*map(_loaded, trees.kept.values()))
    gone = frozenset().union(*(_loaded(upstream) for _, upstream in trees.pairs())) - left
    anyway = tuple(pattern for rule in trees.stated.outsides for pattern in rule.loads)
    for symbols in trees.kept.values():
        for chain, line in symbols.outside_reads.items():
            seen.look()
            lost = [name for name in (chain, *enclosing(chain)) if "." in name and name in gone]
            lost = [
                name for name in lost if not any_name_matches(anyway, name) and _may_be_module(name)
            ]
            if lost:
                seen.ask(
                    symbols.path, line, f"reads {chain}, and no import loads {lost[-1]} any more"
                )


def _loaded(symbols: ModuleSymbols) -> Iterator[str]:
    """Give what the imports of a file load, or may load, of other packages."""
    package = package_of(symbols.module or "", symbols.path.endswith("/__init__.py"))
    for _, level, written, name in symbols.outside:
        module = absolute(written, level, package)
        yield from (module, *enclosing(module))
        if name not in (None, "*"):
            yield f"{module}.{name}"


def _may_be_module(name: str) -> bool:
    """Tell whether a name may be a module: what Python's own library has is looked up."""
    if name.partition(".")[0] not in sys.stdlib_module_names:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def locals_of_frames(trees: Trees, seen: Seen) -> None:
    """Find locals that went from a function, where kept code may read the locals of others."""
    if not any(_reads_frames(trees, symbols) for symbols in trees.kept.values()):
        return
    for symbols, _ in trees.pairs():
        before, after = (
            parsed((root / symbols.path).read_bytes()) for root in (trees.source.root, trees.out)
        )
        if before is None or after is None:
            continue
        functions = {name: node for name, node in definitions(after) if isinstance(node, Function)}
        for name, node in definitions(before):
            if not isinstance(node, Function) or name not in functions:
                continue
            stored = {part.id for part in walk(functions[name]) if isinstance(part, ast.Name)}
            for statement in node.body:
                seen.look()
                target, _ = assigned(statement)
                if isinstance(target, ast.Name) and target.id not in stored:
                    message = (
                        f"{name} no longer has the local {target.id!r}, and kept code reads frames"
                    )
                    seen.find(symbols.path, functions[name].lineno, message)


def _reads_frames(trees: Trees, symbols: ModuleSymbols) -> bool:
    """Tell whether a kept file may read the locals of functions of the tree."""
    others = tuple(pattern for rule in trees.stated.outsides for pattern in rule.frames)
    if symbols.module is None or any_module_matches(others, symbols.module):
        return False
    data = (trees.out / symbols.path).read_bytes()
    tree = parsed(data) if _FRAME.search(data) else None
    return tree is not None and any(map(reads_a_frame, walk(tree)))
