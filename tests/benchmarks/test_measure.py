"""Small real processes, the order of subjects, and their discovery."""

import os
import sys
import time
from pathlib import Path

import pytest

from benchmarks.process import descendants, measure
from benchmarks.schedule import measure_all, order
from benchmarks.subjects import Place, all_subjects
from tests.benchmarks.measured import MIB, Named
from tests.small import write

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/smaps_rollup").exists(), reason="no /proc of Linux"
)
CHILDREN = """
import subprocess, sys, time
grow = "x = bytearray(60 << 20); import time; time.sleep(0.4)"
for child in [subprocess.Popen([sys.executable, "-c", grow]) for _ in range(2)]:
    child.wait()
"""
BUSY = "import time\nwhile time.process_time() < 0.3: pass"


def python(folder, program, **options):
    return measure(
        [sys.executable, "-c", program], folder=folder, environment=dict(os.environ), **options
    )


@needs_proc
def test_memory_of_the_whole_tree(tmp_path):
    taken = python(tmp_path, CHILDREN)
    assert taken.exit_code == 0 and not taken.timed_out
    assert taken.tree_rss_bytes and taken.tree_pss_bytes
    assert (
        120 * MIB < taken.tree_pss_bytes <= taken.tree_rss_bytes <= taken.memory_bytes < 300 * MIB
    )
    assert taken.wall_seconds > 0.4


def test_time_and_outputs(tmp_path):
    taken = python(tmp_path, BUSY + "\nprint('out'); import sys; sys.exit('err')")
    assert taken.exit_code == 1
    assert taken.cpu_seconds > 0.25 and taken.wall_seconds > 0.25
    assert (tmp_path / "stdout").read_text() == "out\n" and (
        tmp_path / "stderr"
    ).read_text() == "err\n"


def test_time_limit_ends_the_whole_group(tmp_path):
    sleeper = (
        "import subprocess, sys; p = subprocess.Popen(['sleep', '60']); print(p.pid, flush=True); "
        "p.wait()"
    )
    taken = python(tmp_path, sleeper, limit_seconds=0.7)
    assert taken.timed_out and taken.exit_code < 0 and taken.wall_seconds < 20
    pid = int((tmp_path / "stdout").read_text())
    deadline = time.monotonic() + 20
    while _alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinity")
def test_confined_to_cores(tmp_path):
    core = min(os.sched_getaffinity(0))
    python(tmp_path, "import os; print(os.sched_getaffinity(0))", cores=[core])
    assert (tmp_path / "stdout").read_text() == f"{{{core}}}\n"


@needs_proc
def test_a_process_that_is_gone_has_no_descendants():
    assert descendants(2**30) == [2**30]


def _alive(pid):
    """Neither gone nor waiting for a parent that asks."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Echo(Named):
    """Ends with an exit code and says where it is."""

    def __init__(self, name, code, **options):
        super().__init__(name, **options)
        self.code = code

    def command(self, place):
        return [
            sys.executable,
            "-c",
            f"import os, sys; print(os.getcwd(), file=sys.stderr); sys.exit({self.code})",
        ]


def test_records_and_problems(tmp_path):
    def place(scratch):
        return Place("release:1.0", tmp_path, tmp_path, 1, scratch)

    begun = []
    subjects = [Echo("good", 0, reference=True), Echo("bad", 7, once=True)]
    records = list(measure_all(subjects, 2, place, (), lambda s, run: begun.append((s.name, run))))
    assert begun == [(r.subject, r.run) for r in records] == [("good", 1), ("bad", 1), ("good", 2)]
    assert [bool(r.problem) for r in records] == [False, True, False]
    assert records[1].problem == 'exit code 7: "SCRATCH"'


def test_each_run_begins_with_the_next():
    subjects = [Named("a", reference=True), Named("c", once=True), Named("b")]
    names = [[s.name for s in order(subjects, run)] for run in (1, 2, 3, 4)]
    assert names == [["a", "b", "c"], ["b", "a"], ["a", "b"], ["b", "a"]]
    assert order([], 1) == []


def test_every_file_of_subjects_is_found():
    subjects = all_subjects()
    assert [s.name for s in subjects if s.reference] == [subjects[0].name] == ["shrinker"]
    assert {s.name for s in subjects} >= {
        "ast.parse",
        "ast.parse, parallel",
        "vulture",
        "pyan3",
        "ruff",
    }
    assert len({s.name for s in subjects}) == len(subjects)
    assert all(s.reads for s in subjects)


def test_parse_workload(tmp_path):
    from benchmarks.subjects.ast_parse import SUBJECTS

    package = write(tmp_path / "package", {"good.py": "A = '\\d'\n", "bad.py": "print 1\n"})
    for subject in SUBJECTS:
        scratch = tmp_path / subject.name
        scratch.mkdir()
        place = Place("path:x", package, tmp_path, 2, scratch)
        taken = measure(subject.command(place), folder=scratch, environment=dict(os.environ))
        assert taken.exit_code == 0
        assert '"files": 2, "refused": 1' in (scratch / "stdout").read_text()
        assert sum(subject.phases(place, taken).values()) == pytest.approx(taken.wall_seconds)
        assert (scratch / "stderr").read_text() == ""
