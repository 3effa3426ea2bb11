"""What is not run again for a copy of a tree in which one module is another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from equivalence.levels.replay import GENERATED, UPSTREAM, Replay
from equivalence.processes import run
from equivalence.simulation import calls
from equivalence.simulation.environment import HIDE, Simulation, has_triton, simulation
from equivalence.simulation.settings import Settings
from tests.simulations import simulation_python, write_package

Shown = tuple[str, frozenset[str]]


def called(shown: Shown) -> Mapping[str, frozenset[str]]:
    return {calls.MODULE: shown[1]}


def ask(replay: Replay, damaged: str | None, text: str, *modules: str, side: str = GENERATED) -> str:
    replay.damaged = damaged
    return replay.ask(side, "program", lambda: (text, frozenset(modules)), called)[0]


def test_a_program_runs_again_only_for_what_it_asked_for() -> None:
    replay = Replay()
    assert ask(replay, "a", "too early", "b") == "too early"
    assert ask(replay, None, "whole", "a", "b") == "whole"
    assert ask(replay, "a", "damaged") == "damaged"
    assert ask(replay, "c", "never run") == "whole"
    assert ask(replay, "", "no module, or several") == "no module, or several"
    assert replay.skipped == 1
    assert ask(replay, "c", "never run") == "whole"


def test_upstream_runs_once() -> None:
    replay = Replay()
    assert ask(replay, "a", "first", side=UPSTREAM) == "first"
    assert [ask(replay, damaged, "never run", side=UPSTREAM) for damaged in (None, "a", "")] == ["first"] * 3
    assert ask(replay, None, "whole") == "whole" and replay.skipped == 0


def test_a_simulated_process_notes_what_it_asks_for(tmp_path: Path) -> None:
    python = simulation_python()
    texts = {"__init__": "", "a": "import sglang.b", "b": "import json", "c": ""}
    write_package(tmp_path / "tree", {f"{name}.py": text for name, text in texts.items()})
    log = tmp_path / "log"
    log.mkdir()
    variables = Simulation(python, Settings()).seeing(log=str(log)).variables(tmp_path / "tree")
    assert run([python, "-m", "sglang.a"], variables=variables, output=tmp_path / "out", limit=200).code == 0
    assert calls.read(log)[calls.MODULE] == {"sglang", "sglang.a", "sglang.b"}


PROGRAM = """
import triton, triton.language as tl
from triton.runtime.jit import JITFunction

@triton.autotune(configs=[triton.Config({"N": 1}, num_warps=2)], key=["n"])
@triton.jit
def kernel(x, N: tl.constexpr): ...

@triton.jit(do_not_specialize=["x"])
def other(x): ...

assert isinstance(kernel, JITFunction) and isinstance(other, JITFunction) and kernel.arg_names == ["x", "N"]
assert triton.cdiv(5, 2) == 3 and triton.next_power_of_2(5) == 8
assert triton.runtime.driver.active.get_current_target().backend == "cuda"
try:
    kernel[(1,)](1, 2)
except Exception as error:
    print(error)
"""


def test_hidden_triton_is_a_stub_whose_kernels_say_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = simulation_python()
    monkeypatch.setenv(HIDE, "triton")
    made = simulation()
    assert not has_triton(made)
    log = tmp_path / "log"
    log.mkdir()
    output = tmp_path / "out"
    (tmp_path / "program.py").write_text(PROGRAM)
    variables = made.seeing(log=str(log)).variables(tmp_path)
    assert run([python, tmp_path / "program.py"], variables=variables, output=output, limit=200).code == 0, (
        output.read_text()
    )
    assert "Triton is not installed" in output.read_text()
    assert calls.read(log)[calls.STUB] == {"triton:__main__.kernel"}
