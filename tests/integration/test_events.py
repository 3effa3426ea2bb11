"""What a server of the default release does for a step and for a token, counted in both trees: generated never more."""

from __future__ import annotations

from pathlib import Path

import pytest

from equivalence.serving import Request
from equivalence.serving.client import send
from equivalence.simulation import events
from tests.integration.served import of_both, serving
from tests.integration.shrunk import Shrunk

pytestmark = pytest.mark.network

ASKS = 2
TOKENS = 6


def counted(tree: Path, folder: Path) -> dict[str, events.Events]:
    """Serve a tree, stream a few answers one after the other, and count."""
    counts = folder / "counts"
    counts.mkdir(parents=True)
    plain = {"temperature": 0, "max_new_tokens": TOKENS, "ignore_eos": True}
    with serving(tree, folder, counted=counts) as served:
        address = served.address()
        for number in range(ASKS):
            # Another prompt each time: what the cache holds is the same for all.
            body = {"input_ids": [number + 5, 9, 23, 51], "sampling_params": plain, "stream": True}
            answer = send(address, Request("ask", "/generate", body), 600)
            assert answer.status == 200, (answer, served.server.text()[-3000:])
    return events.read(counts)


def test_the_generated_server_does_no_more_than_upstreams(newest: Shrunk, tmp_path: Path) -> None:
    before, after = of_both(newest, tmp_path, counted).values()
    assert before.keys() == after.keys() == set(events.BEGINS.values()) - {""}
    for work, found in after.items():
        assert found.pieces >= ASKS - 1
        for kind in events.KINDS:
            told = f"{work}: {kind}: {before[work]} upstream, {found} generated"
            assert found.least[kind] <= before[work].least[kind], told
            # What waits in the tokenizer's event loop goes on as often as there is time to; the other loops do one thing.
            if work in ("step", "token in the detokenizer"):
                assert found.middle[kind] <= before[work].middle[kind], told
