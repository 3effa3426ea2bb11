"""What kept code names finds something: imports, attributes of modules, `__all__`, names, texts
that are dotted paths or data files, tables whose names it computes; and what the declarations of
kept packages name: commands that installing makes, and sources of crates' targets.

Upstream's own faults are told by the same name in the same file.
"""

import posixpath
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from shrinker.check.leftovers.vocabulary import foreign_words
from shrinker.check.outside import TABLE
from shrinker.check.resolve import Modules
from shrinker.check.trees import Seen, Trees
from shrinker.ruleset.match import any_module_matches
from shrinker.source.layout import PYPROJECT
from shrinker.syntax.imports import absolute, package_of
from shrinker.values.relations import grouped
from shrinker.values.upstream import PACKAGE_PREFIX, enclosing

_INIT = "/__init__.py"
_TABLES = frozenset({"json", "jsonl", "yaml", "yml", "toml", "csv", "tsv", "txt", "jinja", "model"})
_CRATE = "Cargo.toml"
_PLACES = {
    "lib": ("src/lib.rs",),
    "bin": ("src/main.rs", "src/bin/{}.rs", "src/bin/{}/main.rs"),
    "bench": ("benches/{}.rs", "benches/{}/main.rs"),
    "test": ("tests/{}.rs", "tests/{}/main.rs"),
    "example": ("examples/{}.rs", "examples/{}/main.rs"),
}
"""Kinds of targets, and where cargo looks for one that names no path."""


def imports(trees: Trees, seen: Seen) -> None:
    """Each import of a module of the package, or of a name of one."""
    for symbols in trees.kept.values():
        if symbols.error is not None:
            there = trees.source_modules.symbols(symbols.module or "")
            same = there is not None and there.error is not None
            seen.find(symbols.path, 0, f"cannot be parsed: {symbols.error}", inherited=same)
        for line, module, name in symbols.imports:
            what = f"{module}.{name}" if module in trees.modules and name is not None else module
            is_there(
                trees, seen, module, name, symbols.path, line, f"nothing in this tree is {what}"
            )


def is_there(
    trees: Trees,
    seen: Seen,
    module: str | None,
    name: str | None,
    path: str,
    line: int,
    message: str,
    check: str = "",
) -> None:
    """A module of the package, or a name of one, can be imported; else that is what to say of a
    place.
    """
    seen.look(check=check)
    if module and trees.modules.lacks(trees.source_modules, module, name):
        inherited = not trees.source_modules.imports(module, name)
        seen.find(path, line, message, check=check, inherited=inherited)


def module_attributes(trees: Trees, seen: Seen) -> None:
    """Each ``module.name`` on an imported module of the package."""
    ours, theirs = trees.modules, trees.source_modules
    for symbols in trees.kept.values():
        seen.look(len(symbols.attributes))
        for line, target, names in symbols.attributes:
            if (lacking := ours.attribute(target, names)) is not None:
                inherited = theirs.attribute(target, names) == lacking
                seen.find(
                    symbols.path,
                    line,
                    f"module {lacking[0]} has no {lacking[1]!r}",
                    inherited=inherited,
                )


def exported_names(trees: Trees, seen: Seen) -> None:
    """Each text of ``__all__``."""
    for symbols in trees.kept.values():
        for name, line in symbols.exports or ():
            message = f"__all__ names {name!r}, which is not defined"
            is_there(trees, seen, symbols.module, name, symbols.path, line, message)


def lost_imports(trees: Trees, seen: Seen) -> None:
    """Imports of these packages that find nothing here and do in upstream."""
    here, there = _dotted(trees.python), _dotted(trees.source.by_path)
    ours, theirs = Modules(trees.out, here, trees.kept), Modules(trees.source.root, there)
    names = {path: name for name, path in here.items()}
    packages = {name.partition(".")[0] for name in here}
    for symbols in trees.kept.values():
        package = package_of(names.get(symbols.path, ""), symbols.path.endswith(_INIT))
        for line, level, written, name in symbols.outside:
            module = absolute(written, level, package)
            if module.partition(".")[0] in packages and module in theirs:
                seen.look()
                if not ours.imports(module, name) and theirs.imports(module, name):
                    what = module if name is None else f"{module}.{name}"
                    seen.find(symbols.path, line, f"nothing in this tree is {what}")


def _dotted(paths: Iterable[str]) -> dict[str, str]:
    """Return modules of such packages by their dotted names; files in folders that are no packages
    belong to none.
    """
    python = sorted(
        path for path in paths if path.endswith(".py") and not path.startswith(PACKAGE_PREFIX)
    )
    packages = {path.removesuffix(_INIT) for path in python if path.endswith(_INIT)}
    found: dict[str, str] = {}
    for path in python:
        if path.rpartition("/")[0] in packages:
            around = next((folder for folder in enclosing(path, "/") if folder not in packages), "")
            found[
                path.removesuffix(_INIT)
                .removesuffix(".py")
                .removeprefix(f"{around}/")
                .replace("/", ".")
            ] = path
    return found


def dangling_paths(trees: Trees, seen: Seen) -> None:
    """Dotted paths into the package that resolve in upstream and not here, but for the table of
    removed modules: it names what the tree has not.
    """
    ours, theirs, foreign = trees.modules, trees.source_modules, foreign_words(trees.stated)
    rows = [*_rows(trees)]
    _dangling_rows(trees, rows, seen)
    targets = {row[:3] for row in rows}
    for symbols in trees.kept.values():
        alone = set(symbols.paths)
        for line, text in symbols.paths if symbols.path != TABLE else ():
            seen.look()
            if (symbols.path, line, text) in targets:
                continue  # It names something for who asks for the row.
            module, _, attribute = text.partition(":")
            gone = attribute and not ours.dotted_path(module)
            if gone and ((line, module) in alone or trees.index.removes_module(module)):
                # The module alone was reported, in the string that names it; or a rule says that
                # it goes, by a named error.
                continue
            if attribute and not gone and foreign.within(attribute):
                # What another platform defines: the level leftovers asks why it is still named.
                continue
            if not ours.dotted_path(text) and theirs.dotted_path(text):
                message = (
                    f"the string {text!r} names something that upstream has and this tree has not"
                )
                seen.find(symbols.path, line, message)


_Row = tuple[str, int, str, str]
"""Path, line, what the row names and the key by which it is asked for."""


def _rows(trees: Trees) -> Iterator[_Row]:
    """Yield rows, spelled out, of the tables that `[[registry]]` rules name."""
    for symbols in trees.kept.values():
        for made, texts in symbols.targets:
            for rule in trees.stated.registries:
                named = made == rule.row and any_module_matches(rule.modules, symbols.module or "")
                if named and texts.keys() >= {rule.key, rule.target}:
                    target, line = texts[rule.target]
                    yield symbols.path, line, target, texts[rule.key][0]


def _dangling_rows(trees: Trees, rows: Sequence[_Row], seen: Seen) -> None:
    """Rows whose definition is gone, and whose key kept code spells in another place than the rows:
    who asks finds nothing.
    """
    ours, theirs = trees.modules, trees.source_modules
    gone = (row for row in rows if not ours.dotted_path(row[2]) and theirs.dotted_path(row[2]))
    lost = [row for row in gone if not trees.index.removes_module(row[2].partition(":")[0])]
    seen.look(len(lost))
    quoted = re.compile(f"([\"'])({'|'.join(sorted({re.escape(key) for *_, key in lost}))})\\1")
    texts = (
        ((trees.out / path).read_text("utf-8", "replace") for path in trees.python) if lost else ()
    )
    spelled = Counter(found[2] for text in texts for found in quoted.finditer(text))
    spelled.subtract(key for *_, key in rows)
    for path, line, target, key in lost:
        if spelled[key] > 0:
            message = (
                f"the row of {key!r} names {target!r}, which this tree has not, and kept code asks "
                "for it"
            )
            seen.find(path, line, message)


def missing_data_files(trees: Trees, seen: Seen) -> None:
    """Strings with the name of a file of upstream that is not Python: next to their module or in
    its package is one that is kept.
    """
    others = (path for path in trees.source.by_path if not path.endswith(".py"))
    theirs, kept = grouped((path.rpartition("/")[2], path) for path in others), set(trees.recorded)
    for symbols in trees.kept.values():
        for line, text in symbols.files:
            files = theirs.get(text.rpartition("/")[2], ())
            seen.look(bool(files))
            meant = [path for path in files if _names(text, symbols.path, path)]
            if meant and kept.isdisjoint(meant):
                seen.find(
                    symbols.path,
                    line,
                    f"the string {text!r} names {meant[0]}, which is not in this tree",
                )


def _names(text: str, module_path: str, file: str) -> bool:
    """May `text`, written in a module, mean `file`?

    A base name: in the module's folder or below it. A path of several parts: below any package that
    holds the module, at any depth.
    """
    folder = module_path.rpartition("/")[0] + "/"
    wanted = text.lstrip("./")
    if "/" in wanted and module_path.startswith(PACKAGE_PREFIX):
        folder = PACKAGE_PREFIX
    elif folder == PACKAGE_PREFIX:
        # Below the package's root lies everything; there a base name means a file of that folder.
        return file == folder + wanted
    return file.startswith(folder) and file.endswith("/" + wanted)


def lost_tables(trees: Trees, seen: Seen) -> None:
    """Tables whose names kept code computes, and of which others of the same folder stay: each
    needs a rule to go.
    """
    if trees.rules is None:
        return
    patterns = set[str]().union(*(symbols.computed_files for symbols in trees.kept.values()))
    computed = re.compile("|".join(sorted(patterns)) or r"(?!)")
    there = {path: table for path in trees.recorded if (table := _table(path))}
    beside = Counter(there.values())
    for path in trees.source.by_path:
        table = _table(path)
        if table and beside[table] and computed.fullmatch(path.rpartition("/")[2]):
            seen.look()
            if path not in there and not trees.index.removes(path):
                seen.find(
                    path,
                    0,
                    f"is gone, no rule removes it, and {beside[table]} tables beside it stay",
                )


def _table(path: str) -> tuple[str, str] | None:
    """Return folder and ending of a table; None for any other file."""
    ending = path.rpartition(".")[2]
    return (
        (path.rpartition("/")[0], ending)
        if path.startswith(PACKAGE_PREFIX) and ending in _TABLES
        else None
    )


def lost_commands(trees: Trees, seen: Seen) -> None:
    """Commands of the generated package that call nothing, and those of upstream whose module is
    there and that are not declared.
    """
    # A release declares its commands elsewhere.
    declared = _read(PYPROJECT, trees, seen) if (trees.out / PYPROJECT).exists() else None
    if declared is None:
        return
    scripts: Mapping[str, str] = trees.source.declared.scripts
    commands: dict[str, str] = declared.get("project", {}).get("scripts", {})
    seen.look(len(commands.keys() | scripts.keys()))
    ours, theirs = trees.modules, trees.source_modules
    for name, target in commands.items():
        if not ours.dotted_path(target) and (
            theirs.dotted_path(target) or scripts.get(name) != target
        ):
            seen.find(PYPROJECT, 0, f"the command {name} calls {target}, which is not there")
    for name, target in scripts.items() - commands.items():
        if (module := target.partition(":")[0]) in ours:
            seen.find(PYPROJECT, 0, f"the command {name} is gone, but {module} is there")


def lost_targets(trees: Trees, seen: Seen) -> None:
    """Targets and build scripts that a kept Cargo.toml names and that upstream has."""
    for path in (path for path in trees.recorded if path.rpartition("/")[2] == _CRATE):
        for what, places in _targets(_read(path, trees, seen) or {}):
            theirs = {
                posixpath.normpath(posixpath.join(path.rpartition("/")[0], place))
                for place in places
            }
            if theirs & trees.source.by_path.keys():
                seen.look()
                if theirs.isdisjoint(trees.recorded):
                    seen.find(
                        path, 0, f"names {what}, whose source is not in this tree: {min(theirs)}"
                    )


def _read(path: str, trees: Trees, seen: Seen) -> dict[str, Any] | None:
    try:
        return tomllib.loads((trees.out / path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        seen.find(path, 0, f"cannot be read: {error}")
        return None


def _targets(declared: dict[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for kind, places in _PLACES.items():
        targets = declared.get(kind, [])
        for target in [targets] if isinstance(targets, dict) else targets:
            name = target.get("name", "")
            where = (
                (target["path"],)
                if "path" in target
                else tuple(place.format(name) for place in places)
            )
            yield f"the {kind} {name}".rstrip(), where
    if "package" in declared:
        yield "a build script", (str(declared["package"].get("build") or "build.rs"),)
    for name, needed in declared.get("dependencies", {}).items():
        if isinstance(needed, dict) and "path" in needed:
            yield f"the crate {name}", (f"{needed['path']}/{_CRATE}",)
