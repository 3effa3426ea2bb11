"""Measure all subjects in turn, run after run."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.figures import Record
from benchmarks.process import Measurement, measure
from benchmarks.subjects import Place, Subject

_TAIL = 300

MakePlace = Callable[[Path], Place]
"""A run's place, from its scratch folder."""


def order(subjects: Sequence[Subject], run: int) -> list[Subject]:
    """Who is measured in a run (counted from 1), and in which order.

    Each run starts one further, so that nobody always comes after the same neighbour. What is measured once is
    in run 1, where the reference is measured too.
    """
    turn = (run - 1) % len(subjects) if subjects else 0
    turned = [*subjects[turn:], *subjects[:turn]]
    return [subject for subject in turned if run == 1 or not subject.once]


def measure_all(
    subjects: Sequence[Subject],
    runs: int,
    make_place: MakePlace,
    cores: Sequence[int],
    begins: Callable[[Subject, int], None] = lambda subject, run: None,
) -> Iterator[Record]:
    """Yield a record after every measurement.

    Args:
        cores: what the measured processes are confined to; empty for no restriction.
        begins: told before every measurement.
    """
    for run in range(1, runs + 1):
        for subject in order(subjects, run):
            begins(subject, run)
            yield measure_one(subject, run, make_place, cores)


def measure_one(subject: Subject, run: int, make_place: MakePlace, cores: Sequence[int] = ()) -> Record:
    """One subject, once, in a scratch folder of its own."""
    with _scratch() as folder:
        place = make_place(folder)
        subject.prepare(place)
        taken = measure(
            subject.command(place),
            folder=folder,
            environment={**os.environ, **subject.environment(place)},
            cores=cores,
            limit_seconds=subject.limit_seconds,
        )
        problem = _problem(subject, taken, folder)
        phases = {}
        if not problem:
            try:
                phases = dict(subject.phases(place, taken))
            except (OSError, ValueError, KeyError) as error:
                problem = f"its own figures cannot be read: {error!r}"
    return Record(subject.name, run, taken, phases, problem)


def _problem(subject: Subject, taken: Measurement, folder: Path) -> str:
    if taken.timed_out:
        return f"stopped at its time limit of {subject.limit_seconds:g} s"
    if taken.exit_code not in subject.well:
        said = (folder / "stderr").read_text("utf-8", "replace").strip() or (folder / "stdout").read_text(
            "utf-8", "replace"
        )
        # Results are published: they do not tell where this machine keeps its files.
        tail = " ".join(said.replace(str(folder), "SCRATCH").split())[-_TAIL:]
        return f"exit code {taken.exit_code}: {json.dumps(tail, ensure_ascii=False)}"
    return ""


@contextmanager
def _scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="shrinker-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
