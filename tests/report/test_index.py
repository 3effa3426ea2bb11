"""What the page of a run holds of definitions, for the browser to spell out."""

from typing import Any

from shrinker.report.verification import _symbols

SYMBOLS: dict[str, Any] = {
    "modules": [["sglang.a", "a.py"], ["sglang.none", "none.py"], ["sglang.b", "b.py"]],
    "units": [
        [0, "def", "sglang.a.f", 4, 5, -1, True],
        [0, "def", "sglang.a.gone", 9, 9, -1, False],
        [2, "def", "sglang.b.g", 7, 7, -1, True],
    ],
    "others": ["module:sglang.a", "name:unused", "name:g", "root:entry"],
    "kinds": ["root", "name"],
    # By number: units, then others; none for what is not reached.
    "best": [[3, 1, 4], None, [5, 1, 7], [6, 0, 0], [0, 1, 5], [0, 1, 6], None],
}


def test_each_module_has_its_names_and_how_far_each_is_below_the_one_before() -> None:
    assert _symbols(SYMBOLS)["units"] == [("f -gone", [4, 5]), ("", []), ("g", [7])]


def test_of_other_nodes_those_stay_that_a_chain_passes() -> None:
    found = _symbols(SYMBOLS)
    assert found["others"] == ["module:sglang.a", "name:g", "root:entry"]
    steps = [tuple(found["best"][at : at + 3]) for at in range(0, len(found["best"]), 3)]
    assert steps == [(3, 1, 4), (-1, 0, 0), (4, 1, 7), (5, 0, 0), (0, 1, 6), (-1, 0, 0)]
