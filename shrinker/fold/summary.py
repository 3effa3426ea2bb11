"""What a folded module still names: imports, strings that may be paths, calls whose target is computed."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any

from shrinker.fold.computed import computed_strings, pattern_of
from shrinker.fold.context import Context
from shrinker.fold.harvest import harvest
from shrinker.fold.reading import Reading
from shrinker.ruleset.models import Registry
from shrinker.syntax.imports import names_of
from shrinker.syntax.names import last_name
from shrinker.syntax.unroll import Unroller
from shrinker.syntax.walk import walk
from shrinker.values.folded import DynamicSite, ImportSite, StringSite

_PATH_LIKE = re.compile(r"^[\w*./:\-=,\[\]{} +]{2,160}$")
_FILE_LIKE = re.compile(
    r"\.(?:py|json|ya?ml|jinja2?|txt|proto|toml|cfg|ini|cu|cuh|h|hpp|hxx|inc|cc|cxx|cpp|c|so|pyi|sh|js|html|css|metal|sample|model|csv|bin|pt|npz|md|rs|jsonl)$"
)
_DOTTED = re.compile(r"^[A-Za-z_*][\w*]*(?:\.[A-Za-z_*][\w*]*)+(?::[\w*.]+)?$")
_WORD = re.compile(r"^[\w\-*]{3,60}$")

_MECHANISMS = {
    "iter_modules": "walk",
    "walk_packages": "walk",
    "import_module": "import_module",
    "__import__": "import_module",
    "entry_points": "entry_points",
    "spec_from_file_location": "spec_from_file",
}


def summarise(reading: Reading, context: Context) -> dict[str, Any]:
    """What the folded tree names, in source order, as fields of `FoldedModule`.

    Args:
        reading: the folded module.
        context: of its folding.
    """
    unroller = Unroller(reading.tree, reading.unrollable, context.module, context.package)
    strings, own = _rows(reading, unroller, context.environment.registries_in(context.module))
    constants = ((node, str(node.value)) for node in chain(reading.texts, reading.exported))
    named = chain(constants, computed_strings(reading, unroller))
    strings.update(StringSite(node.lineno, text) for node, text in named if _may_be_path(text) and id(node) not in own)
    return {
        "imports": tuple(_imports(reading, context.package)),
        "strings": tuple(sorted(strings, key=lambda site: (site.line, site.text, site.key, site.rule))),
        "dynamic": tuple(_dynamic(reading, unroller)),
        "defines": tuple(_defines(reading.tree.body)),
        "summary": harvest(reading, context),
    }


def _rows(reading: Reading, unroller: Unroller, rules: Iterable[Registry]) -> tuple[set[StringSite], set[int]]:
    """Targets of the rows of tables with their keys, and ids of the nodes of both, which name nothing by themselves."""
    sites: set[StringSite] = set()
    own: set[int] = set()
    for rule in rules:
        for call in reading.calls:
            if last_name(call.func) != rule.row:
                continue
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            key, target = given.get(rule.key), given.get(rule.target)
            rows = unroller.rows(key, target) if key and target else None
            if key and target and rows is not None:
                sites.update(StringSite(target.lineno, text, asked, rule.id) for asked, text in rows)
                own.update(id(node) for part in (key, target) for node in walk(part))
    return sites, own


def _imports(reading: Reading, package: str) -> Iterator[ImportSite]:
    for node, kind, guarded in reading.imports:
        for module, name, _ in names_of(node, package):
            yield ImportSite(node.lineno, module, name or None, kind, guarded)


@lru_cache(maxsize=1 << 16)
def _may_be_path(text: str) -> bool:
    if "#include" in text:
        # Source text of a kernel that is compiled at run time: its includes are files.
        return True
    return _PATH_LIKE.match(text) is not None and bool(
        "sglang." in text or _FILE_LIKE.search(text) or _DOTTED.match(text) or "/" in text or _WORD.match(text)
    )


def _dynamic(reading: Reading, unroller: Unroller) -> list[DynamicSite]:
    found: list[tuple[int, int, DynamicSite]] = []
    for node in reading.calls:
        function = node.func
        name = getattr(function, "attr", "") or getattr(function, "id", "")
        mechanism = _MECHANISMS.get(name)
        if mechanism is None:
            continue
        target = pattern_of(node.args[0]) if node.args else "*"
        text = " ".join(ast.unparse(node).split())
        exact = unroller.texts(node.args[0]) if node.args and "*" in target else None
        for each in (target,) if exact is None else exact:
            site = DynamicSite(node.lineno, mechanism, text[:120], None if each == "*" else each)
            found.append((node.lineno, node.col_offset, site))
    return [site for _, _, site in sorted(found, key=lambda item: item[:2])]


def _defines(body: list[ast.stmt]) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.append((node.name, node.lineno))
            case ast.Assign():
                found.extend((t.id, node.lineno) for t in node.targets if isinstance(t, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.append((name, node.lineno))
            case ast.If():
                found.extend(_defines(node.body))
                found.extend(_defines(node.orelse))
            case ast.Try():
                found.extend(_defines(node.body))
                for handler in node.handlers:
                    found.extend(_defines(handler.body))
    return found
