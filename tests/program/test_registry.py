"""Rows of a table that say where an implementation is: which of them keep it, from sources to what
is kept.
"""

from pathlib import Path

import pytest

from shrinker.ruleset import Registry
from shrinker.values.graph import Graph
from tests.program.small_tree import WHY, graph_of, names

TABLE = Registry(
    id="table",
    why=WHY,
    feature="rows",
    modules=("sglang.ops",),
    row="Row",
    key="op",
    target="target",
)
ROW = "from sglang.table import Row, add\nadd(Row(op='one.run', target='sglang.one:run'))\n"
LOOP = (
    "from sglang.table import Row, add\nfor _name in ('one', 'two'):\n"
    "    add(Row(op=f'{_name}.run', target=f'sglang.{_name}:run'))\n"
)


def kept_of(folder: Path, main: str, rows: str, **more: str) -> Graph:
    """A table with rows in `sglang.ops`, which `main` loads, and modules `one` and `two`."""
    main = f"import sglang.ops\n{main}"
    sources = {
        "main.py": main,
        "ops/__init__.py": rows,
        "table.py": "",
        "one.py": "",
        "two.py": "",
    } | more
    return graph_of(folder, sources, registries=(TABLE,))


KEPT = {
    "its key is spelled": ("find('one.run')\n", ROW, {"one.py"}),
    "its key is spelled where the rows are": (
        "",
        f"{ROW}def call():\n    return find('one.run')\n",
        {"one.py"},
    ),
    "its key is put together from its first word": ("find(f'one.{way}')\n", ROW, {"one.py"}),
    "its key is put together from its last word": ("find(group + '.run')\n", ROW, {"one.py"}),
    "one row of a loop is asked for": ("find('two.run')\n", LOOP, {"two.py"}),
    "its key is not known": ("", ROW.replace("'one.run'", "name()"), {"one.py"}),
    "its target is not known": ("", LOOP.replace("('one', 'two')", "[*names()]"), set()),
    "it is made by another name": ("", ROW.replace("Row(", "Line("), {"one.py"}),
    "it has another keyword": ("", ROW.replace("op=", "name="), {"one.py"}),
    "who names the module is none of the rows": ("x = 'sglang.one:run'\n", ROW, {"one.py"}),
    "nobody asks": ("x = 'one.walk', f'{a}.{b}', 'sglang'\n", ROW, set()),
    "nobody asks for a row of a loop": ("", LOOP, set()),
}


@pytest.mark.parametrize("case", KEPT)
def test_a_row_names_its_module_where(case: str, tmp_path: Path) -> None:
    main, rows, expected = KEPT[case]
    assert (
        names(kept_of(tmp_path, main, rows)) - {"main.py", "ops/__init__.py", "table.py"}
        == expected
    )


def test_rows_in_other_modules_name_theirs(tmp_path: Path) -> None:
    graph = kept_of(tmp_path, f"{ROW}", "")
    assert "one.py" in names(graph)


def test_what_a_row_loads_may_ask_for_another_row(tmp_path: Path) -> None:
    graph = kept_of(tmp_path, "find('one.run')\n", LOOP, **{"one.py": "find('two.run')\n"})
    assert {"one.py", "two.py"} <= names(graph)


def test_why_a_module_goes_is_said_by_its_row(tmp_path: Path) -> None:
    removed = kept_of(tmp_path, "", ROW).removed["python/sglang/one.py"]
    assert removed.rule == "table"
    assert removed.reason == (
        "only the row of 'one.run' names it (python/sglang/ops/__init__.py:2), and no kept code "
        "asks for that"
    )
