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

    Each run starts one further, so that nobody always comes after the same neighbour. What is
    measured once ends run 1: there it has figures of the reference to be compared with, and parts
    no pair by minutes.
    """
    repeated = [subject for subject in subjects if not subject.once]
    turn = (run - 1) % len(repeated) if repeated else 0
    return [*repeated[turn:], *repeated[:turn], *(s for s in subjects if s.once and run == 1)]


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


def measure_one(
    subject: Subject, run: int, make_place: MakePlace, cores: Sequence[int] = ()
) -> Record:
    """Return one subject, once, in a scratch folder of its own."""
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
        problem = _problem(subject, taken, place)
        phases = {}
        if not problem:
            try:
                phases = dict(subject.phases(place, taken))
            except (OSError, ValueError, KeyError) as error:
                problem = f"its own figures cannot be read: {error!r}"
    return Record(subject.name, run, taken, phases, problem)


def _problem(subject: Subject, taken: Measurement, place: Place) -> str:
    if taken.timed_out:
        return f"stopped at its time limit of {subject.limit_seconds:g} s"
    if taken.exit_code not in subject.well:
        outputs = (
            (place.scratch / name).read_text("utf-8", "replace").strip()
            for name in ("stderr", "stdout")
        )
        said = next(filter(None, outputs), "no message")
        # Results are published: they do not tell where this machine keeps its files.
        for path, shown in (
            (place.package, "python/sglang"),
            (place.scratch, "SCRATCH"),
            (Path.home(), "~"),
        ):
            said = said.replace(str(path), shown)
        tail = " ".join(said.split())[-_TAIL:]
        return f"exit code {taken.exit_code}: {json.dumps(tail, ensure_ascii=False)}"
    return ""


@contextmanager
def _scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="shrinker-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
