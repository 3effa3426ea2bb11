"""The narrow profiles' servers start and answer, and a benchmark that asks one runs to its end: a rule that takes what every run asks for
would end each of them."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from equivalence.serving import Request
from equivalence.serving.client import send
from tests.integration.served import of_both, serving
from tests.integration.shrunk import Shrunk

pytestmark = pytest.mark.network

ASKED = {
    "input_ids": [5, 9, 23, 51],
    "sampling_params": {"temperature": 0, "max_new_tokens": 4},
    "return_logprob": True,
}


BENCHMARK = "--batch-size 1 --input-len 8 --output-len 4 --skip-warmup --show-report --dataset-path talks.json"
TALKS = [{"conversations": [{"from": "human", "value": "hello " * 20}, {"from": "gpt", "value": "fine " * 20}]}] * 8


def answer(tree: Path, folder: Path) -> tuple[int, Any, Any, int]:
    """Status, tokens and their logprobs of one request, and how the tree's own benchmark of a server ends."""
    with serving(tree, folder) as served:
        found = send(served.address(), Request("ask", "/generate", ASKED), 300)
        (folder / "talks.json").write_text(json.dumps(TALKS))
        named = [
            "--model-path",
            str(served.model),
            "--tokenizer-path",
            str(served.model),
            "--base-url",
            served.address(),
        ]
        words = [str(served.python), "-m", "sglang.bench_one_batch_server", *named, *BENCHMARK.split()]
        with (folder / "benchmark.txt").open("w") as log:
            ended = subprocess.run(words, cwd=folder, env=dict(served.variables), stdout=log, stderr=log, timeout=300)
        return (
            found.status,
            found.body["output_ids"],
            found.body["meta_info"]["output_token_logprobs"],
            ended.returncode,
        )


def test_all_profiles_serve_what_upstream_does(
    newest: Shrunk, narrower: Shrunk, smallest: Shrunk, tmp_path: Path
) -> None:
    wanted = of_both(newest, tmp_path, answer)
    assert wanted["upstream"] == wanted["generated"] and wanted["upstream"][0] == 200 and wanted["upstream"][-1] == 0
    narrow = [narrower, smallest]
    with ThreadPoolExecutor(len(narrow)) as threads:
        trees = [tree.out / "python" for tree in narrow]
        found = list(threads.map(answer, trees, [tmp_path / tree.profile for tree in narrow]))
    assert found == [wanted["upstream"]] * 2
