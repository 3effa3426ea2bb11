"""The engine: a server is started, asked and ended, and two records are compared, whatever the
server does.
"""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from equivalence.processes import members
from equivalence.serving import server as server_module
from equivalence.serving.client import perform
from equivalence.serving.record import (
    NO_TIME,
    Answer,
    Answers,
    Difference,
    differences,
    mask,
    streamed_alike,
)
from equivalence.serving.script import Request, Scale, script
from equivalence.serving.server import Launch, NotReady, Server, free_port

FAKE = Path(__file__).parents[1] / "fake_server.py"


def launch(folder: Path, port: int, *words: str, ready: float = 20.0) -> Launch:
    command = (sys.executable, str(FAKE), "--port", str(port), *words)
    environment = {"NAME": "given", "PYTHONPATH": None}
    return Launch(
        "fake", command, environment, folder / "server.log", ready_seconds=ready, stop_seconds=0.5
    )


def answers(
    folder: Path, *words: str, requests: tuple[Request, ...] = script(Scale(tokens=2))
) -> Answers:
    port = free_port()
    with Server(launch(folder, port, *words)) as server:
        assert server.wait_ready() > 0
        return perform(f"http://127.0.0.1:{port}", requests, seconds=30)


def compare(left: Answers, right: Answers) -> list[Difference]:
    names = dict.fromkeys((*left, *right))
    return [d for name in names for d in differences(name, left.get(name), right.get(name))]


def test_two_runs_of_one_server_are_identical_and_nothing_is_left(tmp_path):
    port = free_port()
    with Server(launch(tmp_path, port)) as server:
        server.wait_ready()
        first = perform(f"http://127.0.0.1:{port}", script(Scale(tokens=2)), seconds=30)
        time.sleep(0.8)
    assert "given" in server.text(), "the environment of the launch is the server's"
    assert not members(server.pid)
    assert server.peak > 2**20
    again = answers(tmp_path)
    assert compare(first, again) == []
    assert first["bad_json_type"].status == 400
    assert first["generate_stream"].body[-1] == "data: [DONE]"
    assert first["generate_0"].body["meta_info"]["id"] == "<masked>"


def test_a_port_is_given_to_one_process_once(monkeypatch):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    monkeypatch.setattr(server_module, "_PORTS", range(port, port + 1))
    assert free_port() == port
    with pytest.raises(OSError, match="no free port"):
        free_port()
    asks = (
        f"from equivalence.serving import server; server._PORTS = range({port}, {port + 1}); "
        "server.free_port()"
    )
    assert (
        "no free port"
        in subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True).stderr
    )


def test_another_token_and_another_last_digit_are_found(tmp_path):
    usual = answers(tmp_path)
    flipped = [(d.request, d.path) for d in compare(usual, answers(tmp_path, "flips"))]
    assert (
        next(path for name, path in flipped if name == "generate_0")
        == "body.meta_info.output_token_logprobs[0][1]"
    )
    assert "health" not in dict(flipped)
    assert "generate_0" in {d.request for d in compare(usual, answers(tmp_path, "close"))}


def test_missing_values_types_and_nan_are_told_apart():
    def one(left: object, right: object) -> list[str]:
        return [
            d.path for d in compare({"r": Answer(200, "", left)}, {"r": Answer(200, "", right)})
        ]

    assert one({"a": None}, {}) == ["body.a"]
    assert one([1, 2], [1]) == ["body[1]"]
    assert one(1, 1.0) == ["body"] and one(True, 1) == ["body"]
    assert one(float("nan"), float("nan")) == []
    assert compare({"r": Answer(200, "", 1)}, {})[0].right == "null"


def test_a_server_that_dies_is_told_with_the_end_of_its_log(tmp_path):
    with pytest.raises(NotReady) as caught, Server(launch(tmp_path, free_port(), "dies")) as server:
        server.wait_ready()
    assert "ended with 1" in str(caught.value)
    assert "cannot import name 'gone'" in caught.value.tail


def test_a_server_that_is_never_ready_ends_in_time(tmp_path):
    begin = time.monotonic()
    with (
        pytest.raises(NotReady, match="not ready after 1 s"),
        Server(launch(tmp_path, 0, "slow", ready=1)) as server,
    ):
        server.wait_ready()
    assert time.monotonic() - begin < 10
    assert not members(server.pid)


def test_a_stubborn_group_is_killed_with_its_children(tmp_path):
    with Server(launch(tmp_path, free_port(), "stubborn")) as server:
        server.wait_ready()
        assert members(server.pid)
    assert not members(server.pid)


def test_the_group_ends_when_the_leader_is_gone_before(tmp_path):
    with Server(launch(tmp_path, free_port(), "stubborn")) as server:
        server.wait_ready()
        os.kill(server.pid, 9)
        time.sleep(0.2)
        assert members(server.pid), "the child outlives its parent"
    assert not members(server.pid)


def test_a_group_ends_with_a_process_that_is_killed(tmp_path):
    waits = ["sh", "-c", "sleep 100 & wait"]
    holds = (
        f"with Group({waits}, {{}}, Path('log')) as group: print(group.pid, flush=True); "
        "group.wait(100)"
    )
    command = [
        sys.executable,
        "-c",
        f"from pathlib import Path\nfrom equivalence.processes import Group\n{holds}",
    ]
    variables = {**os.environ, "PYTHONPATH": str(Path(server_module.__file__).parents[2])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=tmp_path, env=variables) as holder:
        assert holder.stdout
        group = int(holder.stdout.readline())
        assert members(group)
        holder.kill()
    limit = time.monotonic() + 10
    while members(group) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not members(group)


def test_an_answer_that_does_not_end_takes_its_time_and_no_more(tmp_path):
    port = free_port()
    requests = (Request("drip", "/drip", {}), Request("after", "/generate", {"text": "x"}))
    with Server(launch(tmp_path, port)) as server:
        server.wait_ready()
        begin = time.monotonic()
        record = perform(f"http://127.0.0.1:{port}", requests, each=0.5)
        assert time.monotonic() - begin < 5
    assert "TimeoutError" in record["drip"].error
    assert record["after"].status == 200
    assert [name for name, answer in record.items() if answer.error] == ["drip"]


def test_no_time_left_is_recorded(tmp_path):
    record = perform("http://127.0.0.1:1", script(Scale()), seconds=0)
    assert record and {answer.error for answer in record.values()} == {NO_TIME}


def test_masking_keeps_the_field_and_hides_the_value():
    one = mask({"id": "a", "x": [{"created": 5, "text": "chatcmpl-0123456789abcdef01 b"}]})
    assert one == {"id": "<masked>", "x": [{"created": "<masked>", "text": "chatcmpl-<masked> b"}]}
    assert (
        mask('File "/a/b/sglang/srt/x.py", line 7, in f')
        == 'File "sglang/srt/x.py", line <masked>, in f'
    )
    assert mask("[13:19:27] /x/parser.cc:5: no rule") == "[<masked>] /x/parser.cc:5: no rule"
    assert mask({"output_ids": [1]}) == {"output_ids": [1]}


def test_the_script_asks_what_the_server_has():
    everything = script(Scale(features=frozenset({"grammar", "tools", "reasoning", "long"})))
    names = [r.name for r in everything]
    assert len(names) == len(set(names))
    few = {r.name for r in script(Scale())}
    assert {"json_schema", "tools_required", "reasoning", "prompt_long"} <= set(names) - few


def _stream(*events: object) -> Answer:
    return Answer(200, "text/event-stream", list(events))


def _delta(text: str | None, end: str | None = None) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": end}]}


GROWING = [
    {"text": "a", "ids": [1]},
    {"text": "ab", "ids": [1, 2]},
    {"text": "abc", "ids": [1, 2, 3]},
]
STREAMS = {
    "another text": ((_delta("a"), _delta("b", "stop")), (_delta("a"), _delta("c", "stop")), False),
    "another text before the last": ((_delta("a"), _delta("b")), (_delta("c"), _delta("b")), False),
    "another end": ((_delta("a"), _delta("b", "stop")), (_delta("ab", "length"),), False),
    "a field that is not there": (
        (_delta("a"), {**_delta("b"), "usage": 1}),
        (_delta("ab"),),
        False,
    ),
    "all at once": ([_delta(text) for text in "abcd"], (_delta("abcd"),), False),
    "two tokens in one event": (
        (_delta("a"), _delta("b", "stop"), "[DONE]"),
        (_delta("ab", "stop"), "[DONE]"),
        True,
    ),
    "what grows, an event less": (GROWING, [GROWING[0], GROWING[2]], True),
    "what grows, to another end": (GROWING, GROWING[:2], False),
}


@pytest.mark.parametrize(("left", "right", "alike"), STREAMS.values(), ids=STREAMS)
def test_streams_may_be_cut_at_other_places(
    left: list[object], right: list[object], alike: bool
) -> None:
    assert streamed_alike(_stream(*left), _stream(*right)) is alike
    assert not streamed_alike(_stream(*left), Answer(500, "text/event-stream", [*left]))
    assert not streamed_alike(*(Answer(200, "application/json", [*each]) for each in (left, right)))
