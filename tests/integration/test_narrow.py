"""The narrow profiles' servers start and answer: a rule that takes what every start asks for would end each of them."""

from __future__ import annotations

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


def answer(tree: Path, folder: Path) -> tuple[int, Any, Any]:
    """Status, tokens and their logprobs of one request."""
    with serving(tree, folder) as served:
        found = send(served.address(), Request("ask", "/generate", ASKED), 300)
        return found.status, found.body["output_ids"], found.body["meta_info"]["output_token_logprobs"]


def test_all_profiles_serve_what_upstream_does(
    newest: Shrunk, narrower: Shrunk, smallest: Shrunk, tmp_path: Path
) -> None:
    wanted = of_both(newest, tmp_path, answer)
    assert wanted["upstream"] == wanted["generated"] and wanted["upstream"][0] == 200
    narrow = [narrower, smallest]
    with ThreadPoolExecutor(len(narrow)) as threads:
        trees = [tree.out / "python" for tree in narrow]
        found = list(threads.map(answer, trees, [tmp_path / tree.profile for tree in narrow]))
    assert found == [wanted["upstream"]] * 2
