"""What leaves with a file, a folder, a rule or a definition; public names that are gone; lists that
nothing else reads.
"""

from pathlib import Path
from typing import Any

from shrinker.cache import Cache
from shrinker.program.definitions import read_public_names
from shrinker.program.ways import Cuts
from shrinker.program.written import written_imports
from shrinker.report.api import (
    DROPPED,
    IMPORTED,
    INTERNAL,
    SAID,
    api_page,
    definitions_data,
    removed_definitions,
)
from shrinker.report.effects import questionable
from shrinker.report.retained import Retained
from shrinker.report.retained_sizes import retained_data
from shrinker.report.summary import Measured, lines_list, tuning_list
from shrinker.ruleset.load import load_rules
from shrinker.values.graph import Graph, Removal
from shrinker.values.upstream import UpstreamTree
from tests.program.small_tree import write_tree
from tests.small import read_archive, rule

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
        ("server.py", "lora/layers.py", "lora/pool.py", "utils.py", "lora/kernel.cu", "spare.py"),
        10,
    )
}
DATA: dict[str, Any] = {"nodes": NODES, "kinds": KINDS, "edges": EDGES, "kept": [*LINES]}


def test_what_leaves_is_what_is_reached_through_it_alone() -> None:
    found = Retained(DATA, LINES)
    assert found.with_paths([f"{S}server.py"]) == sorted(LINES.keys() - {f"{S}spare.py"})
    assert found.with_paths([f"{S}lora/pool.py"]) == [f"{S}lora/kernel.cu", f"{S}lora/pool.py"]
    assert found.with_rule("spare") == [f"{S}spare.py"] and found.with_rule("none") == []


def test_a_user_decides_about_what_is_imported_at_need_and_about_rules(tmp_path: Path) -> None:
    choices = [("start", 5, 60), ("spare", 1, 15)]
    assert Retained(DATA, LINES).optional() == choices
    assert Retained(DATA, LINES).optional(1) == choices[:1]
    inner = DATA | {"edges": [*EDGES, [7, 0, 3, 0, 0]]}
    # Two rules name the server: what is left to decide about is the folder that it imports within a
    # function.
    assert Retained(inner, LINES).optional() == [(f"{S}lora/", 3, 37), ("spare", 1, 15)]
    for _ in range(2):
        saved = retained_data(inner, LINES, Cache(tmp_path))
        assert saved["optional"] == [[f"{S}lora/", 3, 37], ["spare", 1, 15]]
        assert (
            saved["retained"][f"{S}lora/pool.py"] == [2, 26]
            and f"{S}utils.py" not in saved["retained"]
        )


def test_a_member_is_reached_with_its_class_only() -> None:
    # A root names a class and what looks its member up.
    cuts = Cuts(4, [[0, 1], [0, 3], [3, 2]], [0], {2: 1})
    assert cuts.leaving([1]) == [1, 2] and cuts.leaving([3]) == [2, 3] and cuts.leaving([2]) == [2]


def test_by_name_alone_and_rules_without_use_are_questionable() -> None:
    units = [
        [0, "function", "sglang.a.f", 1, 9, -1, True],
        [0, "class", "sglang.a.C", 11, 12, -1, True],
        [0, "member", "sglang.a.C.m", 12, 12, 1, False],
    ]
    symbols = {
        "units": units,
        "others": ["name:f", "root:used", "root:wide"],
        "kinds": ["by name", "root"],
        "best": [[3, 0, 1], [4, 1, 0], [], [1, 0, 0], [], []],
    }
    rules = {
        "rules": {
            "used": ["root", ""],
            "twice": ["api", ""],
            "idle": ["fact", ""],
            "wide": ["remove", ""],
        },
        "effects": {"used": {"kept": 1}, "twice": {"kept": 1}, "wide": {"lines": 7}},
        "wide": {"wide": ["sglang.gone"]},
        "idle": ["idle"],
    }
    rows = questionable(symbols, rules)
    assert [row[:2] for row in rows] == [("wide", 7), ("idle", 0), ("twice", 0), ("sglang.a.f", 9)]
    assert (
        "sglang.gone" in rows[0][2]
        and "did nothing" in rows[1][2]
        and "something else" in rows[2][2]
    )


def test_lines_by_folder_and_language() -> None:
    files = [
        Measured("a/x.py", "a/", "Python", 10, 5, True),
        Measured("a/y.cu", "a/", "CUDA", 20, 0, False),
        Measured("b/z.json", "b/", "JSON", 7, 7, True),
    ]
    assert lines_list(files).splitlines()[1:] == [
        "all\tPython, C++, CUDA\t2\t1\t30\t5",
        "all\tCUDA\t1\t0\t20\t0",
        "all\tPython\t1\t1\t10\t5",
        "all\tJSON\t1\t1\t7\t7",
        "a/\tCUDA\t1\t0\t20\t0",
        "a/\tPython\t1\t1\t10\t5",
        "b/\tJSON\t1\t1\t7\t7",
    ]


def test_tables_that_are_gone_by_card() -> None:
    name = "c/E=8,N=1,device_name=NVIDIA_H200"
    gone = {
        f"{name},dtype=fp8_w8a8.json": Removal("r", ""),
        f"{name}.json": Removal("s", ""),
        "x.py": Removal("t", ""),
    }
    assert tuning_list(Graph((), {}, gone, ())).splitlines()[1:] == [
        "NVIDIA_H200\tE=8,N=1\t\ts",
        "NVIDIA_H200\tE=8,N=1\tdtype=fp8_w8a8\tr",
    ]


P = "python/sglang/"

RULES = rule("dropped", "dropped-tpu", words=["tpu"]) + rule(
    "internal", "internal-lost", names=["sglang.lost.L*"]
)


def _tree(folder: Path) -> UpstreamTree:
    files = read_archive(Path(__file__).with_name("retained.txtar"))
    return write_tree(folder, files | {"broken.py": "def ("})


def test_what_counts(tmp_path: Path) -> None:
    tree = _tree(tmp_path)
    path = f"{P}kept.py"
    (found,) = read_public_names({path: tree.by_path[path].sha256}, tree.read, Cache()).values()
    assert [(one.name, one.kind, one.guarded) for one in found] == [
        ("on", "import", False),
        ("near", "import", False),
        ("sglang.star", "star", False),
        ("first", "assign", False),
        ("a", "assign", False),
        ("b", "assign", False),
        ("c", "assign", False),
        ("helper", "function", False),
        ("Tool", "class", False),
        ("guarded", "function", True),
        ("tried", "assign", True),
        ("alone", "function", False),
        ("used", "function", False),
    ]
    assert next((one.line, one.end_line) for one in found if one.name == "helper") == (16, 18)


def test_why_they_went(tmp_path: Path) -> None:
    tree = _tree(tmp_path)
    path = f"{P}kept.py"
    removed = {
        f"{P}ruled.py": Removal("remove-ruled", "r"),
        f"{P}lost.py": Removal("unreachable", "r"),
        f"{P}broken.py": Removal("unreachable", "r"),
        "docs/other.py": Removal("unreachable", "r"),
    }
    graph = Graph((), {path: "root"}, removed, ())
    (found,) = read_public_names({path: tree.by_path[path].sha256}, tree.read, Cache()).values()
    named = {one.name: one for one in found}
    lost = {
        path: {named[n]: "unreachable" for n in ("a", "alone", "used", "on")}
        | {named["Tool"]: "remove-tool"}
    }
    gone = removed_definitions(tree, graph, Cache())
    (file := tmp_path / "rules.toml").write_text(RULES)
    rules = load_rules([file])
    page = api_page(tree, graph, lost, gone, written_imports(tree), rules)
    assert page.ruled == [
        ("sglang.kept", "remove-tool", ["Tool"]),
        ("sglang.ruled", "remove-ruled", ["one", "two"]),
    ]
    # What a definition says of itself, and a comment, count as nothing.
    assert page.unread == [("sglang.kept", ["alone()"])]
    assert page.counts == {IMPORTED: 1, SAID: 1, DROPPED: 1, INTERNAL: 1}
    assert page.handed == 1
    assert definitions_data(gone) == {
        "one": [[f"{P}ruled.py", 1]],
        "two": [[f"{P}ruled.py", 2]],
        "Lost": [[f"{P}lost.py", 2]],
        "TpuPool": [[f"{P}lost.py", 3]],
    }
