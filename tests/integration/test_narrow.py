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
from tests.integration.served import Served, of_both, serving
from tests.integration.shrunk import Shrunk

pytestmark = pytest.mark.network

ASKED = {
    "input_ids": [5, 9, 23, 51],
    "sampling_params": {"temperature": 0, "max_new_tokens": 4},
    "return_logprob": True,
}


BENCHMARK = "--batch-size 1 --input-len 8 --output-len 4 --skip-warmup --show-report --dataset-path talks.json"
TALKS = [{"conversations": [{"from": "human", "value": "hello " * 20}, {"from": "gpt", "value": "fine " * 20}]}] * 8


def answer(tree: Path, folder: Path) -> tuple[int, Any, Any]:
    """Status, tokens and their logprobs of one request."""
    with serving(tree, folder) as served:
        return asked(served)


def asked(served: Served) -> tuple[int, Any, Any]:
    """The same of a server that runs."""
    found = send(served.address(), Request("ask", "/generate", ASKED), 300)
    return found.status, found.body["output_ids"], found.body["meta_info"]["output_token_logprobs"]


def measured(tree: Path, folder: Path) -> tuple[int, Any, Any]:
    """The same, and the tree's own benchmark of a server runs to its end beside it."""
    with serving(tree, folder) as served:
        first = asked(served)
        (folder / "talks.json").write_text(json.dumps(TALKS))
        asks = f"--model-path {served.model} --tokenizer-path {served.model} --base-url {served.address()} {BENCHMARK}"
        words = [str(served.python), "-m", "sglang.bench_one_batch_server", *asks.split()]
        variables = dict(served.variables)
        ended = subprocess.run(words, cwd=folder, env=variables, capture_output=True, text=True, timeout=300)
        assert ended.returncode == 0, ended.stderr[-3000:]
        return first


def test_all_profiles_serve_what_upstream_does(
    newest: Shrunk, narrower: Shrunk, smallest: Shrunk, tmp_path: Path
) -> None:
    wanted = of_both(newest, tmp_path, answer)
    assert wanted["upstream"] == wanted["generated"] and wanted["upstream"][0] == 200
    # The rules of the smallest are those of all three.
    with ThreadPoolExecutor(2) as threads:
        narrow = threads.submit(answer, narrower.out / "python", tmp_path / narrower.profile)
        small = threads.submit(measured, smallest.out / "python", tmp_path / smallest.profile)
        assert narrow.result() == small.result() == wanted["upstream"]
