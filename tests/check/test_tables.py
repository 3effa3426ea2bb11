"""Tables that are found by a computed name: what may go comes first."""

import pytest

from tests.check.trees import Build
from tests.small import rule

RULES = rule(
    "remove",
    "remove-tables",
    'feature = "tables"',
    'paths = ["python/sglang/**/*device=npu*"]',
    'unless = ["python/sglang/**/n=3,*"]',
) + rule(
    "remove",
    "remove-shapes",
    'feature = "shapes"',
    'paths = ["python/sglang/**/E=*,N=*,*"]',
    "shapes = [{ experts = 256, width = 2048 }]",
)
NAMES = (
    "n=1,device=h100.json",
    "n=2,device=h100.json",
    "n=1,device=npu.json",
    "n=3,device=npu.json",
    "other.json",
)
READER = 'def table(n, device):\n    return open(f"n={n},device={device}.json")\n'
SHAPES = 'def table(e, n):\n    return open(f"E={e},N={n},device_name=h100.json")\n'


def _lost(case: Build, reader: str, names: tuple[str, ...], gone: str) -> list[tuple[str, str]]:
    files = {"a.py": reader, **{f"tables/{name}": "{}\n" for name in names}}
    trees = case(files, {path: "=" for path in files if path != f"tables/{gone}"}).ruled(RULES)
    return [row for row in trees.findings("references") if row[0] == "tables"]


@pytest.mark.parametrize(
    ("reader", "gone", "expected"),
    [
        (READER, "n=1,device=npu.json", 0),  # A rule removes it.
        ("x = 1\n", "n=1,device=h100.json", 0),  # Nothing computes its name.
        (READER, "other.json", 0),
        (READER, "n=1,device=h100.json", 1),
        (READER, "n=3,device=npu.json", 1),  # The rule spares it.
    ],
)
def test_tables(case: Build, reader: str, gone: str, expected: int) -> None:
    assert _lost(case, reader, NAMES, gone) == [("tables", f"tables/{gone}")] * expected


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("E=8,N=14336", 0),  # Another model's.
        ("E=256,N=300", 0),  # No part of the width.
        ("E=500,N=2048", 0),
        ("E=256,N=2048", 1),
        ("E=256,N=256", 1),  # The width over eight ranks.
        ("E=257,N=256", 1),  # A shared expert beside the routed ones.
        ("E=32,N=2048", 1),  # The experts over eight ranks.
        ("E=36,N=2048", 1),  # With 32 redundant ones.
    ],
)
def test_tables_of_shapes(case: Build, shape: str, expected: int) -> None:
    names = tuple(f"{each},device_name=h100.json" for each in (shape, "E=1,N=1"))
    assert _lost(case, SHAPES, names, names[0]) == [("tables", f"tables/{names[0]}")] * expected
