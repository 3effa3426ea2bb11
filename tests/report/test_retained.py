"""What leaves with a file, a folder, a rule or a definition, and what is asked about first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shrinker.cache import Cache
from shrinker.program.cuts import Cuts
from shrinker.report.lists import questionable
from shrinker.report.retained import Leaving, Retained, retained_data

S = "python/sglang/srt/"
NODES = [
    "module:sglang.srt.server",
    "module:sglang.srt.lora.layers",
    "module:sglang.srt.lora.pool",
    "module:sglang.srt.utils",
    f"native:{S}lora/kernel.cu",
    "module:sglang.srt.spare",
    "root:start",
    "root:spare",
]
KINDS = ["import", "import-local", "data", "root"]
EDGES = [
    [6, 0, 3, 0, 0],
    [0, 1, 1, 0, 3],
    [1, 2, 0, 0, 1],
    [0, 3, 0, 0, 1],
    [2, 3, 0, 0, 1],
    [2, 4, 2, 0, 9],
    [7, 5, 3, 0, 0],
]
LINES = {
    f"{S}{name}": n
    for n, name in enumerate(
        ("server.py", "lora/layers.py", "lora/pool.py", "utils.py", "lora/kernel.cu", "spare.py"), 10
    )
}
DATA: dict[str, Any] = {"nodes": NODES, "kinds": KINDS, "edges": EDGES, "kept": [*LINES]}


def test_what_leaves_is_what_is_reached_through_it_alone() -> None:
    found = Retained(DATA, LINES)
    assert found.with_paths([f"{S}server.py"]) == sorted(LINES.keys() - {f"{S}spare.py"})
    assert found.with_paths([f"{S}lora/pool.py"]) == [f"{S}lora/kernel.cu", f"{S}lora/pool.py"]
    assert found.with_rule("spare") == [f"{S}spare.py"] and found.with_rule("none") == []


def test_a_user_decides_about_what_is_imported_at_need_and_about_rules(tmp_path: Path) -> None:
    choices = [Leaving("start", 5, 60), Leaving("spare", 1, 15)]
    assert Retained(DATA, LINES).optional() == choices
    assert Retained(DATA, LINES).optional(1) == choices[:1]
    inner = DATA | {"edges": [*EDGES, [7, 0, 3, 0, 0]]}
    # Two rules name the server: what is left to decide about is the folder that it imports within a function.
    assert Retained(inner, LINES).optional() == [Leaving(f"{S}lora/", 3, 37), Leaving("spare", 1, 15)]
    for _ in range(2):
        saved = retained_data(inner, LINES, Cache(tmp_path))
        assert saved["optional"] == [[f"{S}lora/", 3, 37], ["spare", 1, 15]]
        assert saved["retained"][f"{S}lora/pool.py"] == [2, 26] and f"{S}utils.py" not in saved["retained"]


def test_a_member_is_reached_with_its_class_only() -> None:
    # A root names a class and what looks its member up.
    cuts = Cuts(4, [[0, 1], [0, 3], [3, 2]], [0], {2: 1})
    assert cuts.leaving([1]) == [1, 2] and cuts.leaving([3]) == [2, 3] and cuts.leaving([2]) == [2]


def test_by_name_alone_and_rules_without_use_are_questionable() -> None:
    units = [[0, "function", "f", 1, 9, -1, 1], [0, "class", "C", 11, 12, -1, 1], [0, "member", "C.m", 12, 12, 1, 0]]
    symbols = {
        "units": units,
        "modules": [["sglang.a", "python/sglang/a.py"]],
        "others": ["name:f", "root:used", "root:wide"],
        "kinds": ["by name", "root"],
        "best": [3, 0, 1, 4, 1, 0, -1, -1, 0, 1, 0, 0, -1, -1, 0, -1, -1, 0],
    }
    rules = {
        "rules": {"used": ["root", ""], "twice": ["api", ""], "idle": ["fact", ""], "wide": ["remove", ""]},
        "effects": {"used": {"kept": 1}, "twice": {"kept": 1}, "wide": {"lines": 7}},
        "wide": {"wide": ["sglang.gone"]},
        "idle": ["idle"],
    }
    rows = questionable(symbols, rules)
    assert [row[:2] for row in rows] == [("wide", 7), ("idle", 0), ("twice", 0), ("sglang.a.f", 9)]
    assert "sglang.gone" in rows[0][2] and "did nothing" in rows[1][2] and "something else" in rows[2][2]
