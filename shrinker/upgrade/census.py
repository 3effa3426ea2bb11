"""What an upstream has of the kinds of thing that rules speak of, by its syntax alone: registries,
walks, platforms, folders.

Two inventories are compared, so that an item only needs the same name in both; that most items ask
for no rule is no matter.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from shrinker.cache import Cache
from shrinker.cache.workers import map_cached
from shrinker.check.leftovers.vocabulary import Vocabulary
from shrinker.ruleset import Ruleset
from shrinker.source.layout import NEEDED
from shrinker.syntax.parsing import parsed
from shrinker.values.relations import grouped
from shrinker.values.upstream import PACKAGE_PREFIX, UpstreamTree, module_name

_REGISTER = re.compile(r"_*register(?:_\w+)?|\w+_register|\w*[Rr]egistry")
_TABLE = re.compile(r"_?(?:[A-Z0-9]+_)*(?:REGISTRY|REGISTRIES)")
_OF_PLATFORMS = re.compile("hardware")
"""In names of folders that hold nothing but one folder or file for each platform."""
_WALKS = frozenset({"iter_modules", "walk_packages"})
_LONGEST = 24
"""Characters of a text that may be a platform's name."""


@dataclass(frozen=True, slots=True, order=True)
class Item:
    """One thing."""

    kind: str
    """``platforms``, ``registries``, ``walks``, ``entry points``, ``package data`` or ``folders``.
    """
    name: str
    path: str
    line: int
    """0 for a file or folder."""
    beside: str = ""
    """For a platform's name: the known ones in whose company it stands."""


def inventory(tree: UpstreamTree, rules: Ruleset, results: Cache) -> tuple[Item, ...]:
    """Return all items of an upstream, sorted; what a `[[remove]]` rule takes away holds none."""
    words = Vocabulary(rules)
    layer = results.layer("inventory", rules.digest)
    stay = {file.path: file.sha256 for file in tree.files if not _is_removed(file.path, rules)}
    contents = {
        path: sha
        for path, sha in stay.items()
        if path.startswith(PACKAGE_PREFIX) and path.endswith(".py")
    }
    read = map_cached(
        lambda path: _of_file(path, tree.read(path), words), layer, contents, tree.root, jobs=1
    )
    whole = (*_of_tree(stay, tree.declared.scripts), *_of_folders(tree.by_path, rules, words))
    return tuple(sorted({*whole, *chain.from_iterable(read.values())}))


def fresh_items(items: Iterable[Item], before: Iterable[Item]) -> Iterator[tuple[Item, list[str]]]:
    """Items of whose name the other inventory has none of the kind: the first of each, and all
    their places.
    """
    known = {(item.kind, item.name) for item in before}
    fresh = grouped(
        ((item.kind, item.name), item) for item in items if (item.kind, item.name) not in known
    )
    for _, found in sorted(fresh.items()):
        yield found[0], [f"{item.path}:{item.line}" if item.line else item.path for item in found]


def _is_removed(path: str, rules: Ruleset) -> bool:
    """True for a file or folder that a `[[remove]]` rule takes away."""
    dotted = (
        path.removeprefix("python/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    )
    return any(rule.takes_module(dotted) or rule.takes_path(path) for rule in rules.removes)


def _of_file(path: str, data: bytes, words: Vocabulary) -> tuple[Item, ...]:
    tree = parsed(data)
    return (*_named(path, tree), *_platforms(path, tree, words)) if tree is not None else ()


def _named(path: str, tree: ast.Module) -> Iterator[Item]:
    rows = (
        [row.value] if isinstance(row, ast.Expr) else getattr(row, "decorator_list", ())
        for row in tree.body
    )
    first = frozenset(chain.from_iterable(rows))
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=args) if (
                _REGISTER.fullmatch(name)
            ):
                # What is filed once, when the module is imported, or under a text: `register(self)`
                # of one object with another is no registry.
                if node in first or (
                    args and isinstance(args[0], ast.Constant) and isinstance(args[0].value, str)
                ):
                    yield Item("registries", name, path, node.lineno)
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict() | ast.Call())
                | ast.AnnAssign(target=ast.Name(id=name))
            ) if _TABLE.fullmatch(name):
                yield Item("registries", name, path, node.lineno)
            case ast.Call(func=ast.Attribute(attr=called) | ast.Name(id=called)) if (
                called in _WALKS
            ):
                what = "".join(map(ast.unparse, node.args[:1]))
                yield Item("walks", f"{module_name(path)}: {called}({what})", path, node.lineno)
            case ast.Call(func=ast.Attribute(attr="entry_points") | ast.Name(id="entry_points")):
                group = [
                    *(keyword.value for keyword in node.keywords if keyword.arg == "group"),
                    *node.args,
                ]
                what = "".join(map(ast.unparse, group[:1]))
                yield Item("entry points", f"entry_points({what})", path, node.lineno)


def _platforms(path: str, tree: ast.Module, words: Vocabulary) -> Iterator[Item]:
    """Yield texts and members in a group of which two are names of platforms that the rules
    know.
    """
    for group in _groups(tree):
        known = sorted({text for text, _ in group if _is_platform(text, words)})
        if len(known) < 2 or 2 * len(known) < len(group):
            continue
        for text, line in group:
            if (
                text
                and len(text) <= _LONGEST
                and re.fullmatch(r"[A-Za-z][\w-]*", text)
                and text not in known
            ):
                yield Item("platforms", text.lower(), path, line, ", ".join(known[:6]))


def _groups(tree: ast.Module) -> Iterator[list[tuple[str, int]]]:
    compared: list[tuple[tuple[int, str], tuple[str, int]]] = []
    pending: list[tuple[ast.AST, int]] = [(tree, 0)]
    while pending:
        node, scope = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            scope = node.lineno
        match node:
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                yield _texts(elements)
            case ast.Dict(keys=keys):
                yield _texts(key for key in keys if key is not None)
            case ast.ClassDef(bases=bases) if any("Enum" in ast.unparse(base) for base in bases):
                targets = (
                    target
                    for row in node.body
                    if isinstance(row, ast.Assign)
                    for target in row.targets
                )
                yield [
                    (target.id, target.lineno) for target in targets if isinstance(target, ast.Name)
                ]
            case ast.Call(
                func=ast.Attribute(attr=called) | ast.Name(id=called),
                args=[ast.Constant(value=str(text)), *_],
            ) if _REGISTER.fullmatch(called):
                compared.append(((0, called), (text, node.lineno)))
            case ast.Compare(
                left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=str(text))]
            ):
                compared.append(((scope, ast.unparse(left)), (text, node.lineno)))
        pending += [(child, scope) for child in ast.iter_child_nodes(node)]
    yield from grouped(compared).values()


def _texts(nodes: Iterable[ast.expr]) -> list[tuple[str, int]]:
    return [
        (n.value, n.lineno)
        for n in nodes
        if isinstance(n, ast.Constant) and isinstance(n.value, str)
    ]


def _is_platform(text: str, words: Vocabulary) -> bool:
    """True for a name of a platform, and not for a sentence that speaks of one."""
    return (
        len(text) <= _LONGEST
        and " " not in text
        and (words.foreign.within(text) or words.own.within(text))
    )


def _of_tree(paths: Iterable[str], scripts: Mapping[str, str]) -> Iterator[Item]:
    for file in paths:
        parts = file.split("/")
        if top := _top(file):
            yield Item("folders", top, top, 0)
        suffix = parts[-1].rpartition(".")[2] if "." in parts[-1] else ""
        if file.startswith(PACKAGE_PREFIX) and suffix != "py":
            yield Item(
                "package data", f"{'/'.join(parts[1:5][: len(parts) - 2])}/*.{suffix}", file, 0
            )
    for name, target in scripts.items():
        yield Item("entry points", f"{name} = {target}", "python/pyproject.toml", 0)


def _of_folders(paths: Iterable[str], rules: Ruleset, words: Vocabulary) -> Iterator[Item]:
    """Yield files and folders beside those of known platforms, of which a rule may take
    some away.
    """
    children: dict[str, dict[str, str]] = defaultdict(dict)
    for file in paths:
        parts = file.split("/")
        for depth in range(1, len(parts)):
            children["/".join(parts[:depth])].setdefault(parts[depth].removesuffix(".py"), file)
    for folder, names in children.items():
        plain = {
            name: path
            for name, path in names.items()
            if not name.startswith("_") and "." not in name
        }
        known = sorted(
            name for name in plain if words.foreign.within(name) or words.own.within(name)
        )
        enough = 1 if _OF_PLATFORMS.search(folder.rpartition("/")[2]) else 2
        if (
            len(known) < enough
            or 2 * len(known) < len(plain)
            or not folder.startswith(PACKAGE_PREFIX.rstrip("/"))
        ):
            continue
        for name, path in plain.items():
            place = path if path == f"{folder}/{name}.py" else f"{folder}/{name}"
            if name not in known and not _is_removed(place, rules):
                yield Item("platforms", name.lower(), place, 0, ", ".join(known[:6]))


def _top(path: str) -> str:
    """Return the folder by which a file counts: below `srt`, below the package, or of the
    repository.
    """
    parts = path.split("/")
    for prefix, depth in ((f"{PACKAGE_PREFIX}srt/", 4), (PACKAGE_PREFIX, 3)):
        if path.startswith(prefix) and len(parts) > depth:
            return "/".join(parts[:depth])
    return parts[0] if len(parts) > 1 and parts[0] not in NEEDED else ""
