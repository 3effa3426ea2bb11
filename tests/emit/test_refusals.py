"""The module that refuses: what it lets pass first."""

import asyncio
import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shrinker.check.allowances import default_tokens, is_refusal
from shrinker.check.subsequence import align, split
from shrinker.emit.refusals import refusals_module
from shrinker.ruleset.models import Refusal
from shrinker.values.edits import Refuse, Span
from tests.emit.small_tree import folded_module, removed_features

PLACE = "sglang.args.Args.__post_init__"
PATH = "python/sglang/args.py"


def _rule(name: str, attribute: str | tuple[str, ...], **more: Any) -> Refusal:
    own = {
        "id": f"refuse-{name}",
        "why": "A rule of the test.",
        "feature": "others",
        "instead": "Take another one.",
    }
    return Refusal(**own | {"function": PLACE, "attribute": attribute} | more)


RULES = [
    _rule("backend", "backend", values=("npu", "hip")),
    _rule("model", "config.names", only=("One", "Two"), function="sglang.**.__post_init__"),
    _rule("flag", "encoder_only", set=True),
    _rule("keys", ("kind", "config.table.kind"), values=("old",)),
    # Upstream writes these in capital letters.
    _rule("any-case", "algorithm", values=("EAGLE3",), any_case=True),
    _rule("others-in-any-case", "draft", only=("Eagle",), any_case=True),
]


def _looks(place: str, asked: str) -> tuple[Refuse, ...]:
    return (Refuse(Span(1, 0, 1, 0), place, asked),)


@pytest.fixture
def refuse() -> Callable[..., None]:
    switches = [("USE_OTHER", "switch-other"), ("OTHER_PATH=", "never-set")]
    module = removed_features(PATH, _looks(PLACE, "self"), RULES, switches)
    return lambda **values: module.refuse(PLACE, types.SimpleNamespace(**values))


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"backend": None},
        {"backend": "cuda"},
        {"backend": "npu2"},
        {"config": None},
        {"config": types.SimpleNamespace(names=None)},
        {"config": types.SimpleNamespace(names=["One"])},
        {"config": types.SimpleNamespace(names=["Two", "One"])},
        {"encoder_only": False},
        {"encoder_only": ""},
        {"kind": "new"},
        {"backend": "NPU"},
        {"algorithm": "EAGLE"},
        {"algorithm": "eagle33"},
        {"draft": "eagle"},
        {"config": types.SimpleNamespace(names=None, table={"kind": "new", "old": 1})},
        {"config": types.SimpleNamespace(names=None, table={})},
    ],
    ids=str,
)
def test_passes(refuse: Callable[..., None], values: dict[str, Any]) -> None:
    refuse(**values)


@pytest.mark.parametrize(
    ("values", "rule", "said"),
    [
        ({"backend": "npu"}, "refuse-backend", "backend=npu"),
        ({"backend": ["cuda", "hip"]}, "refuse-backend", "backend=hip"),
        ({"backend": {"hip": 1}}, "refuse-backend", "backend=hip"),
        ({"backend": types.SimpleNamespace(value="npu")}, "refuse-backend", "backend=npu"),
        ({"config": types.SimpleNamespace(names=["One", "Other"])}, "refuse-model", "names=Other"),
        ({"encoder_only": True}, "refuse-flag", "encoder_only=True"),
        ({"kind": "old"}, "refuse-keys", "kind=old"),
        ({"algorithm": "Eagle3"}, "refuse-any-case", "algorithm=Eagle3"),
        ({"algorithm": "EAGLE3"}, "refuse-any-case", "algorithm=EAGLE3"),
        ({"draft": "eagle3"}, "refuse-others-in-any-case", "draft=eagle3"),
        (
            {"config": types.SimpleNamespace(names=None, table={"kind": "old"})},
            "refuse-keys",
            "kind=old",
        ),
    ],
    ids=str,
)
def test_refuses(refuse: Callable[..., None], values: dict[str, Any], rule: str, said: str) -> None:
    with pytest.raises(ValueError, match="is not part of this server") as caught:
        refuse(**values)
    assert said in str(caught.value) and rule in str(caught.value)
    assert "To get it back" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        *(("USE_OTHER", value, "USE_OTHER.*switch-other") for value in ("1", "true", "YES")),
        # Any text of a variable that is never set.
        *(
            ("OTHER_PATH", value, "switch OTHER_PATH asks.*never-set")
            for value in ("0", "some/path", "no")
        ),
    ],
)
def test_switch(
    refuse: Callable[..., None], monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=said):
        refuse()


@pytest.mark.parametrize("value", ["0", "false", ""])
def test_switch_off(
    refuse: Callable[..., None], monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("USE_OTHER", value)
    refuse()
    assert os.environ["USE_OTHER"] == value


def test_no_module_without_a_look() -> None:
    assert refusals_module(RULES, [], {PATH: folded_module(PATH)}, [PATH]) is None


def test_the_judge_knows_the_line() -> None:
    upstream = "def f(self):\n    return 1\n"
    line = f'from sglang.removed_features import refuse; refuse("{PLACE}", self)'
    ours = f"def f(self):\n    {line}\n    return 1\n"
    found = align(split(ours), split(upstream))
    assert not found.mismatches and found.used["refusal of a removed feature"] == 1
    for other in (
        line.replace("self", "self()"),
        line.replace("refuse;", "refuse2;"),
        f"{line}; import os",
    ):
        text = f"def f(self):\n    {other}\n    return 1\n"
        assert align(split(text), split(upstream)).mismatches, other
    assert not is_refusal(("x",))


def test_the_judge_knows_replaced_defaults() -> None:
    allowed = default_tokens([("old", "new")])
    upstream = split('x = \'old\' if a else b\ny = ["old", "z"]\n')
    found = align(split('x = "new" if a else b\ny = ["z"]\n'), upstream, allowed)
    assert not found.mismatches and found.used["default that a rule replaces"] == 1
    assert align(split('x = "new" if a else b\n'), upstream).mismatches
    assert align(split('x = "newer" if a else b\n'), upstream, allowed).mismatches
    assert align(split('x = "new" if a else "new"\n'), upstream, allowed).mismatches


@pytest.mark.parametrize("argument", ["old", ["new", "old"], {"old": 1}], ids=str)
def test_the_argument_itself(argument: object) -> None:
    place = "sglang.args.choose"
    rule = _rule("keys", "", values=("old",), function=place, argument="kind")
    module = removed_features(PATH, _looks(place, "kind"), [rule], [])
    module.refuse(place, "new")
    module.refuse(place, None)
    with pytest.raises(ValueError, match="choose=old is not part of this server"):
        module.refuse(place, argument)


def test_a_file_of_the_checkpoint(tmp_path: Path) -> None:
    """What cannot be read refuses nothing: who loads it next says why."""
    place = "sglang.args.load"
    rule = _rule(
        "kind", "config.json:table.kind", values=("old",), function=place, argument="model"
    )
    module = removed_features(PATH, _looks(place, "model"), [rule], [])
    for text in ("{}", "[]", "no JSON", '{"table": {"kind": "new"}}'):
        (tmp_path / "config.json").write_text(text)
        module.refuse(place, str(tmp_path))
    module.refuse(place, "no/folder")
    module.refuse(place, None)
    (tmp_path / "config.json").write_text('{"table": {"kind": "old"}}')
    for model in (tmp_path, str(tmp_path)):
        with pytest.raises(ValueError, match="kind=old is not part of this server"):
            module.refuse(place, model)


def test_a_server_answers_with_the_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The layer of a built application that handles errors gets a handler, the others do not."""
    told: list[tuple[str, type[Exception], Any]] = []

    class Layer:
        def __init__(self, name: str, **below: Any) -> None:
            vars(self).update(below, name=name)

    class Handling(Layer):
        def add_exception_handler(self, error: type[Exception], handler: Any) -> None:
            told.append((vars(self)["name"], error, handler))

    responses = types.ModuleType("starlette.responses")
    vars(responses)["JSONResponse"] = lambda content, status_code: (status_code, content)
    monkeypatch.setitem(sys.modules, "starlette.responses", responses)
    module = removed_features(PATH, _looks("sglang.server.lifespan", "app"), [], [])
    module.refuse("sglang.server.lifespan", Layer("no application"))
    assert not told
    inner = Handling("errors", app=Layer("router"))
    module.refuse(
        "sglang.server.lifespan",
        Handling("application", middleware_stack=Layer("metrics", app=inner)),
    )
    assert [(name, error) for name, error, _ in told] == [
        ("application", module.RemovedFeatureError),
        ("errors", module.RemovedFeatureError),
    ]
    handler, error = (
        told[0][2],
        module.RemovedFeatureError("shrinker: it is not part of this server"),
    )
    status, content = asyncio.run(handler(types.SimpleNamespace(scope={"type": "http"}), error))
    assert (status, content["error"]["message"]) == (400, str(error))
    with pytest.raises(ValueError, match="it is not part"):
        asyncio.run(handler(types.SimpleNamespace(scope={"type": "websocket"}), error))


def test_requests_over_grpc_are_looked_at_where_they_are_sent() -> None:
    """An error of the scheduler would end the server for everybody."""
    place = "sglang.server.add_routes"
    rule = _rule("kind", "kind", values=("old",), function=place, argument="manager")
    module = removed_features(PATH, _looks(place, "manager"), [rule], [])
    sent: list[object] = []

    async def send(request: object, name: str, timeout: float = 0) -> str:
        sent.append((request, name, timeout))
        return "answered"

    manager = types.SimpleNamespace(send_communicator_req=send)
    module.refuse(place, manager)
    passes, ends = (types.SimpleNamespace(kind=[kind]) for kind in ("new", "old"))
    assert asyncio.run(manager.send_communicator_req(passes, "profile", timeout=3)) == "answered"
    with pytest.raises(ValueError, match="kind=old is not part of this server"):
        asyncio.run(manager.send_communicator_req(ends, "profile"))
    assert sent == [(passes, "profile", 3)]
