"""What is counted of a piece of work, on a small package with the three loops of a server."""

from __future__ import annotations

from pathlib import Path

from equivalence.processes import run
from equivalence.simulation import events
from equivalence.simulation.environment import Simulation
from equivalence.simulation.settings import Settings
from tests.simulations import simulation_python, write_package

LOOP = """import asyncio


def recv_requests():
    return []


def run_batch(extra):
    for _ in range(extra):
        helped()


def helped():
    try:
        import sglang.gone
    except ImportError:
        pass


def turns(extra):
    for step in (False, True, False, True):
        recv_requests()
        if step:
            run_batch(extra)
    recv_requests()


async def generate_request():
    await asyncio.sleep(0)
    return 1


async def serve():
    for _ in range(3):
        await generate_request()
"""


def counted(folder: Path, code: str) -> dict[str, events.Events]:
    write_package(folder / "tree", {"__init__.py": "", "managers/__init__.py": "", "managers/loop.py": LOOP})
    (folder / "counts").mkdir()
    made = Simulation(simulation_python(), Settings()).seeing(
        counted=str(folder / "counts"), followed=str(folder / "tree/sglang")
    )
    finished = run(
        [made.python, "-c", code], variables=made.variables(folder / "tree"), output=folder / "output", limit=120
    )
    assert finished.code == 0, finished.tail()
    return events.read(folder / "counts")


def test_a_turn_without_a_batch_is_no_step(tmp_path: Path) -> None:
    found = counted(tmp_path, "from sglang.managers.loop import turns; turns(2)")
    assert found.keys() == {"step"} and found["step"].pieces == 2
    # `recv_requests`, `run_batch` and twice `helped`; the failed import is looked for and raised each time.
    assert found["step"].least == found["step"].middle
    assert (found["step"].least["calls"], found["step"].least["failed imports"]) == (4, 2)
    assert found["step"].least["imports"] >= 2


def test_more_work_is_counted_as_more(tmp_path: Path) -> None:
    few = counted(tmp_path / "few", "from sglang.managers.loop import turns; turns(0)")["step"].middle
    more = counted(tmp_path / "more", "from sglang.managers.loop import turns; turns(1)")["step"].middle
    assert all(more[kind] > few[kind] for kind in events.KINDS)


def test_a_coroutine_that_goes_on_is_the_same_request(tmp_path: Path) -> None:
    found = counted(tmp_path, "import asyncio; from sglang.managers.loop import serve; asyncio.run(serve())")
    assert found["request"].pieces == 2, "the third has no end yet"
