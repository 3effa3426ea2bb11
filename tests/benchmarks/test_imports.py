"""What `-X importtime` prints, by package and by who brings it."""

from __future__ import annotations

from benchmarks.imports import Cost, page, read

PRINTED = """import time: self [us] | cumulative | imported package
import time:        10 |         10 |       numpy
import time:         5 |         15 |     torch
import time:         7 |          7 |     openai.types
import time:         3 |         25 |   sglang.srt.utils
import time:         4 |          4 |   openai
noise
import time:         1 |         30 | sglang
"""


def test_time_is_told_by_package_and_by_who_brings_it() -> None:
    packages, pulled = read(PRINTED)
    assert packages == {"numpy": 10, "torch": 5, "openai": 11, "sglang": 4}
    assert pulled == {
        ("torch", "sglang.srt.utils"): 15,
        ("openai", "sglang.srt.utils"): 7,
        ("openai", "sglang"): 4,
    }


def test_the_page_has_ratios_and_what_is_gone() -> None:
    text = page(
        Cost(4.0, 2_000_000, 10, {"sglang": 0.5, "orjson": 0.5}, {("orjson", "sglang"): 0.5}),
        Cost(2.0, 1_000_000, 5, {"sglang": 1.0}, {}),
    )
    assert "| 4.0 | 2.0 | 0.50 |" in text and "does not: orjson." in text
