"""Which texts of a module rounds cannot tell apart, and who must say for what name it asks."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

import shrinker.fold.propagate as refine
from shrinker.fold.alike import moved_spans, names_apart
from shrinker.fold.propagate.said import RECORDED, Said
from shrinker.values.edits import Span
from shrinker.values.folded import DynamicSite, Escape, FoldedModule, ImportSite, StringSite
from shrinker.values.units import Unit, Units
from shrinker.values.usage import Usage

MODULE = FoldedModule(
    "python/sglang/a.py",
    "sglang.a",
    False,
    "before",
    9,
    (),
    "",
    (),
    (ImportSite(1, "sglang.b", "f", "import", False),),
    (StringSite(2, "b.json"),),
    (DynamicSite(3, "import_module", "import_module(x)", None),),
    (("f", 4), ("g", 6)),
    (),
    (Escape("sglang.c", "sglang.c.h", 5, "gone"),),
    Usage(words="f x", loads="f", calls="f(*) f(?)", texts="b.json"),
)


def _moved(module: FoldedModule, by: int) -> FoldedModule:
    return replace(
        module,
        sha256="now",
        imports=tuple(replace(site, line=site.line + by) for site in module.imports),
        strings=tuple(replace(site, line=site.line + by) for site in module.strings),
        dynamic=tuple(replace(site, line=site.line + by) for site in module.dynamic),
        defines=tuple((name, line + by) for name, line in module.defines),
        escapes=tuple(replace(use, line=use.line + by) for use in module.escapes),
    )


@pytest.mark.parametrize(
    "other",
    [
        replace(MODULE, imports=()),
        replace(MODULE, imports=(replace(MODULE.imports[0], kind="import-local"),)),
        replace(MODULE, strings=(StringSite(2, "c.json"),)),
        replace(MODULE, dynamic=()),
        replace(MODULE, escapes=()),
        replace(MODULE, defines=(("g", 4), ("f", 6))),
        replace(MODULE, usage=replace(MODULE.usage, texts="")),
        replace(MODULE, usage=replace(MODULE.usage, lost="x")),
        # A round looks for literals that folding wrote, whatever is called.
        replace(MODULE, usage=replace(MODULE.usage, calls="f(*) f(?) g(False!)")),
        replace(MODULE, usage=replace(MODULE.usage, dynamic=True)),
    ],
)
def test_what_a_round_or_the_graph_of_files_may_see(other: FoldedModule) -> None:
    assert names_apart(MODULE, other) is None


def test_who_may_get_any_module_reads_what_matters() -> None:
    every = replace(MODULE, usage=replace(MODULE.usage, dynamic=True))
    assert names_apart(every, replace(every, usage=replace(every.usage, reads="flag"))) is None


@pytest.mark.parametrize(
    ("other", "names"),
    [
        (_moved(MODULE, 3), set()),
        (replace(MODULE, usage=replace(MODULE.usage, words="f y")), {"x", "y"}),
        (replace(MODULE, usage=replace(MODULE.usage, loads="")), {"f"}),
        (replace(MODULE, usage=replace(MODULE.usage, reads="flag")), {"flag"}),
        (replace(MODULE, usage=replace(MODULE.usage, plain="k")), {"k"}),
        (replace(MODULE, usage=replace(MODULE.usage, calls="f(*) g(.-,k=*)~")), {"f", "g"}),
    ],
)
def test_what_only_who_asks_for_the_name_may_see(other: FoldedModule, names: set[str]) -> None:
    assert names_apart(MODULE, other) == frozenset(names)


def test_who_asks_is_noted() -> None:
    asked: set[str] = set()
    said = Said({"a", "b"}, asked)
    assert "a" in said and "c" not in said
    assert said.among(["b", "d"]) == {"b"}
    assert asked == {"a", "b", "c", "d"}


_READERS = {("world.py", field) for field in RECORDED if field != "calls"} | {
    ("calls.py", "calls"),
    ("parameters.py", "calls"),
}
"""Who reads such a field whole: `World`, which hands out `Said`; `shapes_of` and `calls_of`, which note the names; and who looks for
literals that folding wrote, which `names_apart` does not let differ."""


def test_nobody_else_reads_what_is_recorded() -> None:
    found = {
        (path.name, node.attr)
        for path in Path(refine.__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in RECORDED and _is_usage(node.value)
    }
    assert found == _READERS


def _is_usage(node: ast.expr) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "usage") or (
        isinstance(node, ast.Name) and node.id == "usage"
    )


def _units(*rows: tuple[str, int], entries: tuple[tuple[str, int], ...] = ()) -> Units:
    units = tuple(Unit("function", (name,), Span(line, 0, line, 5), 1) for name, line in rows)
    return Units(units, frozenset(), frozenset(), tuple((name, Span(line, 6, line, 9)) for name, line in entries))


BEFORE = _units(("f", 1), ("g", 2), entries=(("f", 9),))


@pytest.mark.parametrize(
    "now",
    [
        _units(("f", 1), entries=(("f", 9),)),
        _units(("g", 1), ("f", 2), entries=(("f", 9),)),
        _units(("f", 1), ("g", 2)),
        _units(("f", 1), ("g", 2), entries=(("g", 9),)),
    ],
)
def test_other_units_say_nothing_of_what_to_drop(now: Units) -> None:
    assert moved_spans(frozenset({Span(1, 0, 1, 5)}), BEFORE, now) is None


def test_what_is_no_unit_is_not_found_again() -> None:
    assert moved_spans(frozenset({Span(3, 0, 3, 5)}), BEFORE, BEFORE) is None


def test_one_place_of_two_units_that_became_two_places() -> None:
    twice = _units(("f", 1), ("g", 1))
    assert moved_spans(frozenset({Span(1, 0, 1, 5)}), twice, _units(("f", 1), ("g", 2))) is None
    assert moved_spans(frozenset({Span(1, 0, 1, 5)}), twice, _units(("f", 4), ("g", 4))) == frozenset(
        {Span(4, 0, 4, 5)}
    )


def test_what_was_dropped_moves_with_its_unit() -> None:
    now = _units(("f", 4), ("g", 7), entries=(("f", 12),))
    dead = frozenset({Span(2, 0, 2, 5), Span(9, 6, 9, 9)})
    assert moved_spans(dead, BEFORE, now) == frozenset({Span(7, 0, 7, 5), Span(12, 6, 12, 9)})
