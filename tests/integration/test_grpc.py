"""`--grpc-mode` of the default release: the distribution that upstream declares for it serves both trees alike, without a GPU."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from equivalence.checkpoints.weights import small
from equivalence.levels import Setting
from equivalence.serving import Launch, Server, free_port
from equivalence.simulation.environment import has_triton, simulation
from shrinker.source import open_upstream
from shrinker.source.cache import default_folder
from shrinker.values.upstream import UpstreamTree
from tests.integration.shrunk import REPOSITORY, Shrunk
from tests.simulations import simulation_python

pytestmark = pytest.mark.network

OPTIONS = (
    "--grpc-mode --attention-backend triton --sampling-backend pytorch --grammar-backend xgrammar --disable-cuda-graph "
    "--context-length 512 --max-total-tokens 2048 --max-running-requests 4 --random-seed 1 --watchdog-timeout 900 "
    "--host 127.0.0.1 --skip-server-warmup"
)
CLIENT = """
import json, sys
import grpc
from google.protobuf.json_format import MessageToDict
from smg_grpc_proto import sglang_scheduler_pb2 as asked, sglang_scheduler_pb2_grpc as service

def told(message):
    return MessageToDict(message, preserving_proto_field_name=True)

def tried(call, request):
    try:
        found = call(request, timeout=300)
        return told(found) if hasattr(found, "DESCRIPTOR") else [told(part) for part in found]
    except grpc.RpcError as error:
        return [error.code().name, error.details()]

stub = service.SglangSchedulerStub(grpc.insecure_channel(sys.argv[1]))
prompt = asked.TokenizedInput(original_text="a", input_ids=[5, 9, 23, 51])
plain = dict(top_p=1.0, top_k=-1, repetition_penalty=1.0, max_new_tokens=4, ignore_eos=True, n=1, skip_special_tokens=True)
def sent(name, **more):
    return asked.GenerateRequest(request_id=name, tokenized=prompt, sampling_params=asked.SamplingParams(**plain), **more)
image = asked.MultimodalInputs(image_urls=["http://localhost/none.png"])
answers = {
    "model": tried(stub.GetModelInfo, asked.GetModelInfoRequest()),
    "whole": tried(stub.Generate, sent("whole", return_logprob=True, logprob_start_len=0, top_logprobs_num=2)),
    "streamed": tried(stub.Generate, sent("streamed", stream=True)),
    "health": tried(stub.HealthCheck, asked.HealthCheckRequest()),
    "aborted": tried(stub.Abort, asked.AbortRequest(request_id="none", reason="a test")),
    "text": tried(stub.Generate, asked.GenerateRequest(request_id="text")),
    "loads": sorted(tried(stub.GetLoads, asked.GetLoadsRequest())),
    "embedded": tried(stub.Embed, asked.EmbedRequest(request_id="embedded", tokenized=prompt)),
}
json.dump(answers, open(sys.argv[2], "w"))
"""


def answers(tree: Path, upstream: UpstreamTree, folder: Path) -> dict[str, Any]:
    """What a tree's gRPC server answers."""
    made = simulation(upstream.declared.dependencies, compiled=default_folder() / "compiled")
    model, port = Setting(made, folder / "work").checkpoint(small()), free_port()
    command = [str(made.python), "-m", "sglang.launch_server", "--model-path", str(model), "--port", str(port)]
    variables = {**dict.fromkeys(os.environ), **made.variables(tree)}
    launch = Launch(tree.name, [*command, *OPTIONS.split()], variables, folder / "log.txt", folder, ready_seconds=900)
    with Server(launch) as server:
        server.wait_ready()
        done = subprocess.run(
            [made.python, "-I", "-c", CLIENT, f"127.0.0.1:{port}", folder / "answers.json"],
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, done.stderr + server.text()[-3000:]
    text = (folder / "answers.json").read_text("utf-8").replace(str(model), "MODEL")
    found: dict[str, Any] = json.loads(text)
    return found


def test_both_trees_answer_over_grpc(newest: Shrunk, tmp_path: Path) -> None:
    simulation_python()
    upstream = open_upstream("release:0.5.15.post1", repository=REPOSITORY)
    if not has_triton(simulation(upstream.declared.dependencies)):
        pytest.skip("Triton has no wheel for this system")
    seen = {}
    for name, tree in (("upstream", upstream.root / "python"), ("generated", newest.out / "python")):
        (tmp_path / name).mkdir()
        seen[name] = answers(tree, upstream, tmp_path / name)
    assert seen["generated"] == seen["upstream"]
    whole = seen["upstream"]["whole"]
    assert len(whole[-1]["complete"]["output_ids"]) == 4, whole
