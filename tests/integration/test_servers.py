"""Servers of the default release, without a GPU: a generated one does no more for a step and a
token than upstream's, and all profiles start and answer like upstream: a rule that takes what every
run asks for would end each of them.
"""

import json
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from equivalence.serving.client import send
from equivalence.serving.script import Request
from equivalence.simulation import events
from tests.integration.served import Served, of_both, serving
from tests.integration.shrunk import Shrunk

pytestmark = pytest.mark.network

Answer = tuple[int, Any, Any]
FIRST = (5, 15)
"""Of the prompts that are counted: what answers them are whole characters, since a text that is
held back is another piece of work.
"""
TOKENS = 6
# No prefix of what is asked before it: what lies in the cache is added up in another order.
ASKED = {
    "input_ids": [41, 9, 23, 51],
    "sampling_params": {"temperature": 0, "max_new_tokens": 4},
    "return_logprob": True,
}
BENCHMARK = (
    "--batch-size 1 --input-len 8 --output-len 4 --skip-warmup --show-report --dataset-path "
    "talks.json"
)
TALKS = [
    {
        "conversations": [
            {"from": "human", "value": "hello " * 20},
            {"from": "gpt", "value": "fine " * 20},
        ]
    }
] * 8


def asked(served: Served) -> Answer:
    """Status, tokens and their logprobs of one request."""
    found = send(served.address(), Request("ask", "/generate", ASKED), 300)
    return found.status, found.body["output_ids"], found.body["meta_info"]["output_token_logprobs"]


def counted(tree: Path, folder: Path) -> tuple[dict[str, events.Events], Answer]:
    """Serve a tree, stream a few answers one after the other, and count; the answer to one more
    request.
    """
    counts = folder / "counts"
    counts.mkdir(parents=True)
    plain = {"temperature": 0, "max_new_tokens": TOKENS, "ignore_eos": True}
    with serving(tree, folder, counted=counts) as served:
        address = served.address()
        for first in FIRST:
            # Another prompt each time: what the cache holds is the same for all.
            body = {"input_ids": [first, 9, 23, 51], "sampling_params": plain, "stream": True}
            answer = send(address, Request("ask", "/generate", body), 600)
            assert answer.status == 200, (answer, served.server.text()[-3000:])
        last = asked(served)
    return events.read(counts), last


REFUSED = (
    (
        "/start_profile",
        {"activities": ["CPU", "RPD"]},
        ("activities=RPD", "(AMD ROCm, removed by rule refuse-rpd"),
    ),
    (
        "/update_weights_from_disk",
        {"model_path": "weights", "load_format": "gguf"},
        ("load_format=gguf", "(GGUF quantization, removed by rule refuse-gguf-while-running"),
    ),
)
"""Path and body of requests for something removed, and what the answer says of it."""


def _check_refusals(served: Served) -> None:
    """Ask for things that were removed: the client gets the error, and the server goes on."""
    for path, body, parts in REFUSED:
        found = send(served.address(), Request("refused", path, body), 300)
        said = found.body["error"]
        assert (found.status, said["code"]) == (400, "removed_feature"), found
        for part in (*parts, "To get it back"):
            assert part in said["message"], found


def answer(tree: Path, folder: Path, *, measured: bool = False) -> Answer:
    """Serve a generated tree and ask it; where it is measured, its own benchmark runs to
    its end.
    """
    with serving(tree, folder) as served:
        _check_refusals(served)
        first = asked(served)
        if not measured:
            return first
        (folder / "talks.json").write_text(json.dumps(TALKS))
        asks = (
            f"--model-path {served.model} --tokenizer-path {served.model} --base-url "
            f"{served.address()} {BENCHMARK}"
        )
        words = [str(served.python), "-m", "sglang.bench_one_batch_server", *asks.split()]
        variables = dict(served.variables)
        ended = subprocess.run(
            words, cwd=folder, env=variables, capture_output=True, text=True, timeout=300
        )
        assert ended.returncode == 0, ended.stderr[-3000:]
        return first


Both = Mapping[str, tuple[dict[str, events.Events], Answer]]


@pytest.fixture(scope="module")
def both(newest: Shrunk, tmp_path_factory: pytest.TempPathFactory) -> Both:
    """Upstream's server and that of the widest profile."""
    return of_both(newest, tmp_path_factory.mktemp("both"), counted)


def _more(run: Both) -> dict[tuple[str, str], str]:
    """Of which kind of work, and of which event, the generated tree does more, and what was
    counted.
    """
    before, after = (found for found, _ in run.values())
    assert before.keys() == after.keys() == {events.START, *events.BEGINS.values()} - {""}
    assert all(
        found.pieces >= len(FIRST) - 1 for work, found in after.items() if work != events.START
    )
    return {
        (work, kind): f"{before[work]} upstream, {after[work]} generated"
        for work in after
        for kind in events.KINDS
        if after[work].least[kind] > before[work].least[kind]
        or after[work].middle[kind] > before[work].middle[kind]
    }


def test_the_generated_server_does_no_more_than_upstreams(
    both: Both, newest: Shrunk, tmp_path: Path
) -> None:
    more = _more(both)
    for number in range(2):
        if more:
            # A busy machine wakes a task once more here and there: what a tree does by itself it
            # does in every run.
            again = _more(of_both(newest, tmp_path / str(number), counted))
            more = {what: told for what, told in again.items() if what in more}
    assert more == {}


def test_all_profiles_serve_what_upstream_does(
    both: Both, narrower: Shrunk, smallest: Shrunk, tmp_path: Path
) -> None:
    wanted = both["upstream"][1]
    assert wanted == both["generated"][1] and wanted[0] == 200
    # The rules of the smallest are those of all three.
    with ThreadPoolExecutor(2) as threads:
        narrow = threads.submit(answer, narrower.out / "python", tmp_path / narrower.profile)
        small = threads.submit(
            answer, smallest.out / "python", tmp_path / smallest.profile, measured=True
        )
        assert narrow.result() == small.result() == wanted
