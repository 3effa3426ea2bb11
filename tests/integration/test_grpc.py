"""`--grpc-mode` of the default release: the distribution that upstream declares for it serves both
trees alike, without a GPU.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.integration.served import of_both, serving
from tests.integration.shrunk import Shrunk

pytestmark = pytest.mark.network

CLIENT = Path(__file__).with_name("grpc_client.txt").read_text("utf-8")
"""A program, of the environment of simulated runs: no type of it is known here."""


def answers(tree: Path, folder: Path) -> dict[str, Any]:
    """What a tree's gRPC server answers."""
    with serving(tree, folder, "--grpc-mode --grammar-backend xgrammar") as served:
        place = f"127.0.0.1:{served.port}"
        refused = ["refused"] if (tree / "sglang/removed_features.py").is_file() else []
        done = subprocess.run(
            [served.python, "-I", "-c", CLIENT, place, folder / "answers.json", *refused],
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, done.stderr + served.server.text()[-3000:]
        # Shown where the test fails: a deadline says nothing of what the server did meanwhile.
        print(served.server.text()[-5000:])
    text = (folder / "answers.json").read_text("utf-8").replace(str(served.model), "MODEL")
    found: dict[str, Any] = json.loads(text)
    return found


def test_both_trees_answer_over_grpc(newest: Shrunk, tmp_path: Path) -> None:
    seen = of_both(newest, tmp_path, answers)
    kind, said = seen["generated"].pop("refused")
    assert kind == "INTERNAL" and "activities=RPD is not part of this server (AMD ROCm" in said
    assert seen["generated"].pop("after") == seen["upstream"]["health"]
    assert seen["generated"] == seen["upstream"]
    whole = seen["upstream"]["whole"]
    assert len(whole[-1]["complete"]["output_ids"]) == 4, whole
