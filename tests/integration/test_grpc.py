"""`--grpc-mode` of the default release: the distribution that upstream declares for it serves both trees alike, without a GPU."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.integration.served import of_both, serving
from tests.integration.shrunk import Shrunk

pytestmark = pytest.mark.network

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


def answers(tree: Path, folder: Path) -> dict[str, Any]:
    """What a tree's gRPC server answers."""
    with serving(tree, folder, "--grpc-mode --grammar-backend xgrammar") as served:
        done = subprocess.run(
            [served.python, "-I", "-c", CLIENT, f"127.0.0.1:{served.port}", folder / "answers.json"],
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, done.stderr + served.server.text()[-3000:]
    text = (folder / "answers.json").read_text("utf-8").replace(str(served.model), "MODEL")
    found: dict[str, Any] = json.loads(text)
    return found


def test_both_trees_answer_over_grpc(newest: Shrunk, tmp_path: Path) -> None:
    seen = of_both(newest, tmp_path, answers)
    assert seen["generated"] == seen["upstream"]
    whole = seen["upstream"]["whole"]
    assert len(whole[-1]["complete"]["output_ids"]) == 4, whole
