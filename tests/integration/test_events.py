"""What a server of the default release does for a step and for a token, counted in both trees: generated never more."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from equivalence.checkpoints.weights import small
from equivalence.levels import Setting
from equivalence.serving import Launch, Request, Server, free_port
from equivalence.serving.client import send
from equivalence.simulation import events
from equivalence.simulation.environment import has_triton, simulation
from shrinker.source import open_upstream
from shrinker.source.cache import default_folder
from shrinker.values.upstream import UpstreamTree
from tests.integration.shrunk import REPOSITORY, Shrunk
from tests.simulations import simulation_python

pytestmark = pytest.mark.network

OPTIONS = (
    "--attention-backend triton --sampling-backend pytorch --disable-cuda-graph --context-length 512 --max-total-tokens 2048 "
    "--max-running-requests 4 --random-seed 1 --watchdog-timeout 900 --host 127.0.0.1 --skip-server-warmup"
)
ASKS = 2
TOKENS = 6


def counted(tree: Path, upstream: UpstreamTree, folder: Path) -> dict[str, events.Events]:
    """Serve a tree, stream a few answers one after the other, and count."""
    made = simulation(upstream.declared.dependencies, compiled=default_folder() / "compiled")
    model, port = Setting(made, folder / "work").checkpoint(small()), free_port()
    (folder / "counts").mkdir(parents=True)
    made = made.seeing(counted=str(folder / "counts"), followed=str(tree / "sglang"))
    command = [str(made.python), "-m", "sglang.launch_server", "--model-path", str(model), "--port", str(port)]
    variables = {**dict.fromkeys(os.environ), **made.variables(tree)}
    launch = Launch(tree.name, [*command, *OPTIONS.split()], variables, folder / "log.txt", folder, ready_seconds=1500)
    plain = {"temperature": 0, "max_new_tokens": TOKENS, "ignore_eos": True}
    with Server(launch) as server:
        server.wait_ready()
        # Without a first request of its own it says so a moment before it listens.
        limit = time.monotonic() + 120
        while send(f"http://127.0.0.1:{port}", Request("ready", "/health", method="GET"), 60).status == 0:
            assert time.monotonic() < limit, server.text()[-3000:]
            time.sleep(0.2)
        for number in range(ASKS):
            # Another prompt each time: what the cache holds is the same for all.
            body = {"input_ids": [number + 5, 9, 23, 51], "sampling_params": plain, "stream": True}
            answer = send(f"http://127.0.0.1:{port}", Request("ask", "/generate", body), 600)
            assert answer.status == 200, (answer, server.text()[-3000:])
    return events.read(folder / "counts")


def test_the_generated_server_does_no_more_than_upstreams(newest: Shrunk, tmp_path: Path) -> None:
    simulation_python()
    upstream = open_upstream("release:0.5.15.post1", repository=REPOSITORY)
    if not has_triton(simulation(upstream.declared.dependencies)):
        pytest.skip("Triton has no wheel for this system")
    before = counted(upstream.root / "python", upstream, tmp_path / "upstream")
    after = counted(newest.out / "python", upstream, tmp_path / "generated")
    assert before.keys() == after.keys() == set(events.BEGINS.values()) - {""}
    for work, found in after.items():
        assert found.pieces >= ASKS - 1
        for kind in events.KINDS:
            told = f"{work}: {kind}: {before[work]} upstream, {found} generated"
            assert found.least[kind] <= before[work].least[kind], told
            # What waits in the tokenizer's event loop goes on as often as there is time to; the other loops do one thing.
            if work in ("step", "token in the detokenizer"):
                assert found.middle[kind] <= before[work].middle[kind], told
