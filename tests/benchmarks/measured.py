"""Made-up measurements."""

from benchmarks.budgets import Budgets
from benchmarks.figures import Record
from benchmarks.machine import Machine
from benchmarks.process import Measurement
from benchmarks.results import Results, Session, summarise
from benchmarks.subjects import Place, Subject

MIB = 2**20
BUDGETS = Budgets("ours", "release:1.0", 2, 25.0, 2.0)


class Named(Subject):
    """A subject that is only a name."""

    def __init__(self, name: str, reference: bool = False, once: bool = False) -> None:
        self.name, self.reads, self.reference, self.once = (
            name,
            f"what {name} does",
            reference,
            once,
        )

    def version(self) -> str:
        return f"{self.name} 1"

    def command(self, place: Place) -> list[str]:
        return []


def record(
    subject: str, run: int, wall: float, mib: int = 100, problem: str = "", **phases: float
) -> Record:
    taken = Measurement(
        0, False, wall, 2 * wall, mib * MIB, (mib + 1) * MIB, mib * MIB // 2, wall / 100
    )
    return Record(subject, run, taken, phases, problem)


def session(upstream: str = "release:1.0", cores: int = 2) -> Session:
    machine = Machine(
        "A processor", "x86_64", 4, cores, 8 * 2**30, "A system", "Linux 1", "cpython 3.11.7", 0.5
    )
    return Session("2020-01-01T00:00+00:00", upstream, 12, 3456, 3, 2, False, machine)


def results(
    records: list[Record], absent: dict[str, str] | None = None, **conditions: object
) -> Results:
    subjects = [Named("ours", reference=True), Named("other"), Named("slow", once=True)]
    versions = {subject.name: subject.version() for subject in subjects}
    return summarise(session(**conditions), subjects, versions, absent or {}, records, BUDGETS)  # type: ignore[arg-type]


THREE_RUNS = [
    record("ours", 1, 20.0, load=8.0),
    record("other", 1, 10.0),
    record("slow", 1, 200.0),
    record("other", 2, 40.0),
    record("ours", 2, 24.0, load=9.0),
    record("ours", 3, 22.0, load=7.0),
    record("other", 3, 11.0),
]
