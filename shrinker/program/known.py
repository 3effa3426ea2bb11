"""Work out what upstream answers for names that the tree may lack, where the facts know it."""

import ast
from collections.abc import Iterable, Mapping

from shrinker.cache import Cache
from shrinker.facts.environment import Environment
from shrinker.facts.lattice import Known, Ref, Value
from shrinker.program.definitions import Definition, ModuleNames, read_names
from shrinker.values.folded import FoldedModule
from shrinker.values.outside import Constant, KnownNames
from shrinker.values.upstream import UpstreamTree

_CONSTANTS = (str, int, float, bool, type(None))
_LONGEST = 80
"""Characters of a text that stands in a table."""


def find_known_names(
    environment: Environment, tree: UpstreamTree, folded: Mapping[str, FoldedModule], cache: Cache
) -> dict[str, KnownNames]:
    """Look at every name that an edit of its module may have taken away, by path of the module."""
    changed = {
        path: module
        for path, module in sorted(folded.items())
        if module.edits and module.module in environment.outlines
    }
    hashes = {path: tree.by_path[path].sha256 for path in changed}
    names = read_names(hashes, tree.read, cache)
    found = {path: _known_names(environment, changed[path], names[path]) for path in names}
    return {path: known for path, known in found.items() if known != KnownNames()}


def _known_names(environment: Environment, module: FoldedModule, names: ModuleNames) -> KnownNames:
    known = KnownNames()
    for one in _edited(module, names.names):
        if one.kind != "star":
            _look_at_name(environment, module.module, one, known)
    for one in _edited(module, names.members):
        if one.kind != "declared":
            _look_at_member(environment, module.module, one, known)
    return known


def _edited(module: FoldedModule, names: Iterable[Definition]) -> list[Definition]:
    """Take those whose lines, all of them, are in the span of some edit."""
    spans = [(edit.span.line, edit.span.end_line) for edit in module.edits]
    return [
        one
        for one in names
        if any(first <= one.line and one.end_line <= last for first, last in spans)
    ]


def _look_at_name(
    environment: Environment, module: str, one: Definition, known: KnownNames
) -> None:
    value = environment.resolve(module, one.name)
    if isinstance(value, Known):
        _note(value, one.path, known.values)
    elif isinstance(value, Ref):
        asked = environment.called(value.name) or environment.interpret(value.name)
        if one.text and value.name == f"{module}.{one.name}":
            asked = _interpreted(environment, module, one) or asked
        origin, _, name = value.name.rpartition(".")
        _note(asked, one.path, known.results)
        if origin != module and name == one.name and origin in environment.outlines:
            known.origins[one.path] = origin


def _look_at_member(
    environment: Environment, module: str, one: Definition, known: KnownNames
) -> None:
    says = environment.called if one.kind == "method" else environment.named
    said: Value | None = says(f".{one.name}") or says(f"{module}.{one.path}")
    if said is None and one.kind == "attribute" and one.text:
        said = Known(ast.literal_eval(one.text), True, frozenset())
    elif said is None and one.text:
        said = _interpreted(environment, module, one)
    places = {"method": known.results, "stored": known.unset}
    _note(said, one.path, places.get(one.kind, known.values))


def _interpreted(environment: Environment, module: str, one: Definition) -> Value | None:
    """Run the text of a short function in the closed world."""
    definition = ast.parse(one.text).body[0]
    assert isinstance(definition, ast.FunctionDef)
    return environment.result_of(module, definition)


def _note(value: Value | None, path: str, places: dict[str, Constant]) -> None:
    """Note a value where it is one that can be written."""
    if not isinstance(value, Known) or not value.exact:
        return
    constant = value.value
    if value.rules and type(constant) in (int, float):
        # A fact says a number to decide comparisons.
        return
    if isinstance(constant, _CONSTANTS) and len(str(constant)) <= _LONGEST:
        places[path] = constant
