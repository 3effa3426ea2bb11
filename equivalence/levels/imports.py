"""Level *imports*: with CUDA simulated, the generated tree loads and offers what upstream does.

Checks:
    modules: every module of the generated tree imports, or fails in upstream with the same error.
    help: options of `--help` of the server, each benchmark and each installed command, equal but
        for listed differences.
    openapi: operations of the HTTP server's document, equal but for listed endpoints.
    arguments: every choice, switch and number of the server's flags, three together, settle into
        equal fields, errors and environment variables, on H200 with V3 and on B200 with V3.2.
    routes: paths that the application serves, the undocumented ones included. registry rows: rows
        of the generated tree's tables lead to the class that upstream's lead to.
    architectures: each architecture of a family resolves to upstream's own class for it. loaded
        modules: what the server loads is loaded in upstream, too, and nothing that was removed is.

Limits: modules are imported one after the other in one process, in both trees in the same order, so
that a module that imports only because another was there before is not noticed; the server is
started from nothing by the level *server*. A flag that takes any text is not settled. Commands are
asked for help in children of a process that has loaded the libraries of those before, and nothing
of the tree.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from equivalence.levels.arguments import compare_arguments
from equivalence.levels.listed import (
    compare_documents,
    compare_help,
    options,
    removed_endpoints,
    removed_sockets,
)
from equivalence.levels.result import Ledger, both
from equivalence.levels.scenarios import ARCHITECTURE
from equivalence.levels.setting import GENERATED, SIDES, UPSTREAM, Call, Setting
from shrinker.check.allowances import ERROR_PREFIX
from shrinker.values.outcome import LevelResult
from shrinker.values.upstream import PACKAGE, modules_of

SUBJECTS = Path(__file__).resolve().parent / "subjects.toml"
_SECONDS = 120
"""For the import of one module, and for the help of one command."""

_REQUIRED = (
    "modules",
    "help",
    "openapi",
    "arguments",
    "registry rows",
    "architectures",
    "loaded modules",
)


def run(upstream: Path, generated: Path, setting: Setting) -> LevelResult:
    """Compare what both trees load and offer."""
    trees = {UPSTREAM: upstream, GENERATED: generated}
    subjects = tomllib.loads(SUBJECTS.read_text("utf-8"))
    ledger = Ledger("imports")
    _walk(trees, setting, ledger)
    _interface(trees, subjects, setting, ledger)
    _help(trees, subjects, setting, ledger)
    return ledger.result(_REQUIRED)


def _modules(tree: Path) -> dict[str, str]:
    """Return path in upstream's layout of each module in a folder; no `__main__`, which runs when
    imported.
    """
    files = sorted((tree / PACKAGE).rglob("*.py"))
    found = modules_of(f"python/{file.relative_to(tree).as_posix()}" for file in files)
    named = {name: name.split(".") for name in found}
    return {
        n: found[n]
        for n, parts in named.items()
        if parts[-1] != "__main__" and all(map(str.isidentifier, parts))
    }


def _walk(trees: Mapping[str, Path], setting: Setting, ledger: Ledger) -> None:
    theirs, ours = (_modules(trees[side]) for side in SIDES)
    asked = {UPSTREAM: [name for name in ours if name in theirs], GENERATED: [*ours]}
    arguments = {
        side: {"modules": asked[side], "root": str(trees[side]), "seconds": _SECONDS}
        for side in SIDES
    }
    if (found := both(trees, setting, ledger, Call("walk", arguments, 600, "walk"))) is None:
        return
    before, after = (outcome.data["failed"] for outcome in found)
    ledger.checks["modules"] += len(ours)
    for name, error in after.items():
        path = ours[name]
        if name not in before:
            ledger.find("modules", path, f"does not import, and does in upstream: {error}")
        elif before[name] != error:
            ledger.find(
                "modules",
                path,
                f"fails otherwise than in upstream: {error}; upstream: {before[name]}",
            )
        else:
            ledger.inherit("modules", path, error)
    for name in before.keys() - after.keys():
        ledger.inherit("modules", theirs[name], f"fails in upstream only: {before[name]}")
    ledger.figures.append(
        (
            "modules imported",
            f"{len(ours) - len(after)} of {len(ours)}; {len(after)} need what is not here",
        )
    )


def _interface(
    trees: Mapping[str, Path], subjects: Mapping[str, Any], setting: Setting, ledger: Ledger
) -> None:
    arguments = {name: subjects[name] for name in ("server", "registries", "architectures")}
    # Alone: its loading is timed.
    alone, call = (
        replace(setting, jobs=1),
        Call("interface", dict.fromkeys(SIDES, arguments), 300, "interface"),
    )
    if (found := both(trees, alone, ledger, call)) is None:
        return
    before, after = (outcome.data for outcome in found)
    _loading(before["loading"], after["loading"], trees, ledger)
    listed = setting.expected.endpoints
    ledger.checks["openapi"] += sum(len(methods) for methods in after["openapi"]["paths"].values())
    for place, message in compare_documents(before["openapi"], after["openapi"], listed):
        ledger.find("openapi", "", f"{place}: {message}")
    # A socket has no method.
    removed = {*removed_endpoints(listed), *(f"* {path}" for path in removed_sockets(listed))}
    ledger.checks["routes"] += len(after["routes"])
    for route in sorted({*before["routes"]} ^ {*after["routes"]}):
        if route not in removed and not route.startswith("HEAD "):
            side = "upstream" if route in before["routes"] else "the generated tree"
            ledger.find("routes", "", f"only {side} serves {route}")
    _registries(before, after, ledger)
    for name, resolved in after["architectures"].items():
        if refused := setting.expected.refuses([ARCHITECTURE, name]):
            ledger.limit(f"{name}: the profile refuses {refused}.")
            continue
        ledger.same("architectures", name, before["architectures"][name], resolved, count=1)
        if "Transformers" in resolved:
            ledger.inherit("architectures", "", f"{name}: {resolved}")
    compare_arguments(trees, after["flags"], setting, ledger)


def _registries(before: Mapping[str, Any], after: Mapping[str, Any], ledger: Ledger) -> None:
    for place, rows in after["registries"].items():
        known = before["registries"][place]
        if known is None:
            ledger.limit(f"This release has no registry {place}.")
        elif rows is None:
            ledger.find("registry rows", "", f"{place} is not there")
        else:
            ledger.figures.append((place.partition(":")[2], f"{len(rows)} of {len(known)} rows"))
            if known and not rows:
                ledger.find("registry rows", "", f"{place} has no rows, upstream {len(known)}")
            theirs = {key: known.get(key) for key in rows}
            ledger.same("registry rows", place, theirs, rows, most=len(rows), count=len(rows))


def _help(
    trees: Mapping[str, Path], subjects: Mapping[str, Any], setting: Setting, ledger: Ledger
) -> None:
    expected, commands = setting.expected, list(_commands(trees[GENERATED], subjects))
    given = {"commands": {command.name: command.start for command in commands}, "seconds": _SECONDS}
    if (
        found := both(
            trees, setting, ledger, Call("usage", dict.fromkeys(SIDES, given), 900, "usage")
        )
    ) is None:
        return
    for name, path, _ in commands:
        (theirs, before), (ours, after) = (outcome.data[name] for outcome in found)
        if theirs != 0:
            note = f"{name} --help ends with {theirs} in upstream, with {ours} here"
            (ledger.inherit if theirs == ours else ledger.find)("help", path, note)
            continue
        if ours != 0:
            last = after.strip().rpartition("\n")[2]
            ledger.find("help", path, f"{name} --help ends with {ours}: {last}")
            continue
        # The help itself, without what modules log while they are loaded.
        before, after = (text[max(0, text.find("usage:")) :] for text in (before, after))
        ledger.checks["help"] += len(options(after)) - 1
        for option, message in compare_help(before, after, expected.flags, expected.refused):
            ledger.find("help", path, f"{name} {option}: {message}")


class _Command(NamedTuple):
    name: str
    path: str
    """Where it is, in upstream's layout."""
    start: tuple[str, ...]


def _commands(tree: Path, subjects: Mapping[str, Any]) -> Iterator[_Command]:
    """Yield what people start: modules that are programs, and what installing the package makes."""
    package = tree / "sglang"
    for file in sorted(
        {file for pattern in subjects["commands"] for file in package.glob(pattern)}
    ):
        path = file.relative_to(tree).with_suffix("")
        module = ".".join(path.parts)
        text = file.read_text("utf-8")
        if "__main__" in text and f"{ERROR_PREFIX}the program {module} is not part" not in text:
            yield _Command(module, f"python/{path.as_posix()}.py", ("-m", module))
    declared = tree / "pyproject.toml"
    project = (
        tomllib.loads(declared.read_text("utf-8")).get("project", {}) if declared.is_file() else {}
    )
    for name in subjects["installed"]:
        if (target := project.get("scripts", {}).get(name)) is None:
            continue
        module, _, called = target.partition(":")
        start = (
            f"import sys; sys.argv[0] = {name!r}; import {module}; sys.exit({module}.{called}())"
        )
        yield _Command(name, _modules(tree).get(module, ""), ("-c", start))


def _loading(
    before: Mapping[str, Any], after: Mapping[str, Any], trees: Mapping[str, Path], ledger: Ledger
) -> None:
    ledger.checks["loaded modules"] += len(after["modules"])
    theirs, ours = (_modules(trees[side]) for side in SIDES)
    alone = "is loaded by the generated server and not by upstream's"
    for name in sorted({*after["modules"]} - {*before["modules"]} - (ours.keys() - theirs.keys())):
        ledger.find("loaded modules", ours.get(name, ""), f"{name} {alone}")
    for name in after["modules"]:
        place = trees[GENERATED] / name.replace(".", "/")
        # A folder without `__init__.py` is a package, too.
        if not place.is_dir() and not place.with_suffix(".py").is_file():
            ledger.find(
                "loaded modules", "", f"{name} is loaded, and the generated tree has no such module"
            )
    ledger.checks["loaded distributions"] += len(after["distributions"])
    for name in sorted({*after["distributions"]} - {*before["distributions"]}):
        ledger.find("loaded distributions", "", f"{name} {alone}")
    for name, key in (("import of the server", "seconds"), ("processor time of it", "processor")):
        ledger.figures.append((name, f"{after[key]:.1f} s, upstream {before[key]:.1f} s"))
    ours_mib, theirs_mib = (side["memory"] / 2**20 for side in (after, before))
    ledger.figures.append(("memory after it", f"{ours_mib:.1f} MiB, upstream {theirs_mib:.1f} MiB"))
    for name, key in (
        ("modules of sglang loaded", "modules"),
        ("distributions loaded", "distributions"),
    ):
        ledger.figures.append((name, f"{len(after[key])}, upstream {len(before[key])}"))
