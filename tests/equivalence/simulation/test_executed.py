"""What a simulated process says of itself, on small packages: which lines it executed, and how much
it did.
"""

import os
import time
from pathlib import Path

import pytest

from equivalence.processes import Group, run
from equivalence.simulation import events, executed
from equivalence.simulation.environment import Simulation
from tests.simulations import simulation_python, write_package
from tests.small import read_archive

FILES = read_archive(Path(__file__).with_name("executed.txtar"))


@pytest.fixture
def made(tmp_path: Path) -> Simulation:
    write_package(
        tmp_path / "tree", {name.removeprefix("followed/"): text for name, text in FILES.items()}
    )
    executed.clear(tmp_path / "lines")
    return seeing(tmp_path, executed=str(tmp_path / "lines"))


def seeing(folder: Path, **what: str) -> Simulation:
    return Simulation(simulation_python()).seeing(followed=str(folder / "tree/sglang"), **what)


def finish(made: Simulation, folder: Path, *words: str | Path) -> None:
    variables = made.variables(folder / "tree")
    finished = run([made.python, *words], variables=variables, output=folder / "output", limit=120)
    assert finished.code == 0, finished.tail()


@pytest.mark.parametrize("end", ["", "; import os; os._exit(0)"])
def test_lines_of_an_import_are_apart(made: Simulation, tmp_path: Path, end: str) -> None:
    finish(made, tmp_path, "-c", f"from sglang.used import work; work(1){end}")
    found = executed.read(tmp_path / "lines")
    assert found.running == {"used.py": {7, 8}}
    assert found.importing == {"used.py": {1, 3, 6}, "helper.py": {1, 2, 5}}


def test_threads_and_processes_are_followed(made: Simulation, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import multiprocessing, threading\nfrom sglang.used import work\nfrom sglang.helper "
        "import unused\n"
        "if __name__ == '__main__':\n"
        "    for kind in ('spawn', 'fork'):\n"
        "        process = multiprocessing.get_context(kind).Process(target=work, args=(kind == "
        "'fork',))\n"
        "        process.start(); process.join(); assert process.exitcode == 0\n"
        "    thread = threading.Thread(target=unused, args=(1,)); thread.start(); thread.join()\n"
    )
    finish(made, tmp_path, program)
    assert executed.read(tmp_path / "lines").running == {"used.py": {7, 8, 9}, "helper.py": {6}}


def test_a_process_that_is_killed_has_answered_before(made: Simulation, tmp_path: Path) -> None:
    code = (
        "import time; from sglang.used import work; work(0); print('ready', flush=True); "
        "time.sleep(300)"
    )
    with Group(
        [made.python, "-c", code], made.variables(tmp_path / "tree"), log := tmp_path / "log"
    ):
        limit = time.monotonic() + 120
        while log.read_text() != "ready\n" and time.monotonic() < limit:
            time.sleep(0.05)
        assert executed.read(tmp_path / "lines").running == {}
        assert executed.ask(tmp_path / "lines", 60)
    assert executed.read(tmp_path / "lines").running == {"used.py": {7, 9}}


def test_a_process_that_does_not_answer_is_told(tmp_path: Path) -> None:
    with Group(["sleep", "60"], os.environ, tmp_path / "log") as sleeper:
        (tmp_path / f"{sleeper.pid}.json").write_text('{"answered": false}')
        start = time.monotonic()
        assert not executed.ask(tmp_path, 0.5)
        assert time.monotonic() - start < 30
    assert executed.ask(tmp_path, 0.5)


LOOP = "srt/managers/scheduler.py"


def counted(folder: Path, code: str) -> dict[str, events.Events]:
    write_package(folder / "tree", {LOOP: FILES[LOOP]})
    (folder / "counts").mkdir()
    finish(seeing(folder, counted=str(folder / "counts")), folder, "-c", code)
    return events.read(folder / "counts")


def test_a_turn_without_a_batch_is_no_step(tmp_path: Path) -> None:
    found = counted(tmp_path, "from sglang.srt.managers.scheduler import turns; turns(2)")
    assert found.keys() == {events.START, "step"} and (
        found[events.START].pieces,
        found["step"].pieces,
    ) == (1, 2)
    # `recv_requests`, `run_batch` and twice `helped`; the failed import is looked for and raised
    # each time.
    assert found["step"].least == found["step"].middle
    assert (found["step"].least["calls"], found["step"].least["failed imports"]) == (4, 2)
    assert found["step"].least["imports"] >= 2


def test_more_work_is_counted_as_more(tmp_path: Path) -> None:
    few = counted(tmp_path / "few", "from sglang.srt.managers.scheduler import turns; turns(0)")[
        "step"
    ].middle
    more = counted(tmp_path / "more", "from sglang.srt.managers.scheduler import turns; turns(1)")[
        "step"
    ].middle
    assert all(more[kind] > few[kind] for kind in events.KINDS)


def test_a_coroutine_that_goes_on_is_the_same_request(tmp_path: Path) -> None:
    found = counted(
        tmp_path,
        "import asyncio; from sglang.srt.managers.scheduler import serve; asyncio.run(serve())",
    )
    assert found["request"].pieces == 2, "the third has no end yet"


def test_what_wakes_by_the_clock_is_no_part_of_a_request(tmp_path: Path) -> None:
    code = "import asyncio; from sglang.srt.managers.scheduler import tick; asyncio.run(tick({}))"
    alone = counted(tmp_path / "alone", code.format(0))["request"]
    assert counted(tmp_path / "beside", code.format(2))["request"] == alone
    assert alone.least == alone.middle


@pytest.mark.parametrize("tokens", ["1, 1, 1", "1, 2, 1", "2, 2, 2"])
def test_tokens_that_come_at_once_are_one_piece(tmp_path: Path, tokens: str) -> None:
    found = counted(
        tmp_path,
        (
            "import asyncio; from sglang.srt.managers.scheduler import bring; "
            f"asyncio.run(bring({tokens}))"
        ),
    )
    assert found["token in the tokenizer"].pieces == 3
