"""Rows of tables, of calls that file something and of loops that import: when one may go, and when
not.
"""

from pathlib import Path

import pytest

from tests.check.trees import Build, less
from tests.small import read_archive, rule

TABLE = read_archive(Path(__file__).with_name("rows.txtar"))["table.py"]
KEY, CALL = '    "two": Two,\n', 'register("two", Two)\n'


@pytest.mark.parametrize(
    ("values", "only", "lost", "findings"),
    [
        (("two",), (), (KEY, CALL), 0),
        ((), ("one", "three"), (KEY, CALL), 0),
        # A refusal of something else.
        (("three",), ("four",), (KEY,), 1),
    ],
)
def test_a_row_goes_when_the_tree_refuses_its_key(
    case: Build,
    values: tuple[str, ...],
    only: tuple[str, ...],
    lost: tuple[str, ...],
    findings: int,
) -> None:
    refuses = (
        f"Refusal = print\nREFUSALS = (\n    Refusal('f', 'kind', {values}, {only}, 'two', "
        "'no-two', ''),\n)\n"
    )
    trees = case({"p.py": TABLE}, {"p.py": less(TABLE, *lost), "removed_features.py": refuses})
    assert trees.findings("references") == [("rows", "p.py")] * findings


REMOVED = rule(
    "remove",
    "remove-some",
    'feature = "some"',
    'modules = ["sglang.**.tpu"]',
    'members = ["sglang.**.*.AITER", "sglang.kernels.**.Kernel.METAL"]',
) + rule("fact", "npu", 'environment = ["USE_NPU"]', "value = false")
KERNELS = "class Kernel:\n    AITER = 1\n    CUDA = 2\n    CPU = 3\n    METAL = 4\n"
ORDERS = """from sglang.kernels import Kernel
ORDER = (Kernel.AITER, Kernel.CUDA, Kernel.METAL, Kernel.CPU)
BY = {Kernel.AITER: Kernel, Kernel.CUDA: Kernel}
"""


@pytest.mark.parametrize(("also", "findings"), [((), 0), ((" Kernel.CPU",), 1)])
def test_rows_of_a_removed_member_may_go_and_no_others(
    case: Build, also: tuple[str, ...], findings: int
) -> None:
    fewer = less(ORDERS, "Kernel.AITER, ", "Kernel.AITER: Kernel, ", "Kernel.METAL, ", *also)
    trees = case(
        {"kernels.py": KERNELS, "orders.py": ORDERS}, {"kernels.py": "=", "orders.py": fewer}
    ).ruled(REMOVED)
    assert trees.findings("references") == [("rows", "orders.py")] * findings
    assert trees.findings("form") == []


@pytest.mark.parametrize("loop", ["[BY[kind] for kind in Kernel]", "for kind in Kernel: BY[kind]"])
def test_no_row_of_a_member_goes_where_a_loop_goes_through_its_enumeration(
    case: Build, loop: str
) -> None:
    looked = (
        f"from sglang.kernels import Kernel\nBY = {{Kernel.AITER: 'a', Kernel.CUDA: 'b'}}\n{loop}\n"
    )
    fewer = {"kernels.py": "=", "orders.py": less(looked, "Kernel.AITER: 'a', ")}
    trees = case({"kernels.py": KERNELS, "orders.py": looked}, fewer).ruled(REMOVED)
    assert trees.findings("references") == [("rows", "orders.py")]


@pytest.mark.parametrize(
    ("after", "findings"), [("name = os.getenv('NAME')", 0), ("if name := os.getenv('NAME'): 1", 1)]
)
def test_a_row_goes_with_the_test_that_it_stands_under(
    case: Build, after: str, findings: int
) -> None:
    """The name that the test binds may stay; *capabilities* asks whether the test may go."""
    table = "import os\nNAMES = []\n"
    trees = case(
        {"p.py": f"{table}if name := os.getenv('NAME'):\n    NAMES.append(name)\n    1\n"},
        {"p.py": f"{table}{after}\n"},
    )
    assert trees.ruled(REMOVED).findings("references") == [("rows", "p.py")] * findings


IMPORTING = (
    "from importlib import import_module\n\n_GROUPS = ('one', {})\nfor _group in {}:\n    "
    "import_module(f'{{__name__}}.{{_group}}')\n"
)


@pytest.mark.parametrize("loop", ["_GROUPS", "('one', {})"])
@pytest.mark.parametrize(
    ("rows", "findings"), [("'two'", 0), ("'tpu',", 2), ("'tpu', 'two'", 1), ("'two', 'two'", 0)]
)
def test_a_loop_imports_all_but_what_a_rule_removes(
    case: Build, loop: str, rows: str, findings: int
) -> None:
    def text(rows: str) -> str:
        return IMPORTING.format(rows, loop.format(rows))

    before = {
        "p/__init__.py": text("'tpu', 'two'") + "x = 1\n",
        "p/one.py": "",
        "p/two.py": "",
        "p/tpu.py": "",
    }
    trees = case(before, {"p/__init__.py": text(rows), "p/one.py": "=", "p/two.py": "="}).ruled(
        REMOVED
    )
    evidence = trees.evidence("references")
    assert [finding.check for finding in evidence.findings] == ["imports of loops"] * findings
    assert dict(evidence.checks)["imports of loops"] == 3
