"""Lists that nothing else reads: of lines, and of tuning tables."""

from __future__ import annotations

from shrinker.report.lists import lines_list, tuning_list
from shrinker.report.summary import Measured
from shrinker.values.graph import Graph, Removal


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
    gone = {f"{name},dtype=fp8_w8a8.json": Removal("r", ""), f"{name}.json": Removal("s", ""), "x.py": Removal("t", "")}
    assert tuning_list(Graph((), {}, gone, ())).splitlines()[1:] == [
        "NVIDIA_H200\tE=8,N=1\t\ts",
        "NVIDIA_H200\tE=8,N=1\tdtype=fp8_w8a8\tr",
    ]
