"""Flags, choices and endpoints that are removed: the tables, and what a parser and a server say of
them.
"""

import argparse
import asyncio
import sys
import types
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from shrinker.emit.refusals import removed_options
from shrinker.emit.removed_features import Endpoint, Option
from shrinker.ruleset import Ruleset
from shrinker.ruleset.models import Refusal, Remove
from shrinker.values.edits import Edit, Guard, Refuse, Span
from shrinker.values.interface import UNEXPLAINED, Difference, Interface
from tests.emit.small_tree import removed_features

PATH = "python/sglang/__init__.py"
ROWS = [
    Option(("--cards", "-c"), (), "Ascend NPU", "remove-npu", "Leave it out."),
    Option(("--kind", "--sort"), ("four", "two"), "", "no-two", ""),
    Option(("--lost",), (), "", "unreachable", ""),
]


def written(edit: Edit) -> types.ModuleType:
    return removed_features(PATH, (edit,), options=ROWS)


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    # What the guard replaces is put back after the test.
    monkeypatch.setattr(argparse.ArgumentParser, "error", argparse.ArgumentParser.error)
    monkeypatch.setattr("sys.meta_path", [])
    module = written(Guard(Span(1, 0, 1, 0)))
    module.guard()
    module.guard()
    parser = argparse.ArgumentParser(prog="serve")
    parser.add_argument("--kind", "--sort", choices=["one"])
    parser.add_argument("--size", type=int)

    def asked(*arguments: str) -> str:
        with pytest.raises(SystemExit) as ended:
            parser.parse_args(arguments)
        assert ended.value.code == 2
        return capsys.readouterr().err

    return asked


@pytest.mark.parametrize(
    "arguments", [["--other"], ["--kind", "three"], ["--size", "x"], ["two"], ["--cards2", "1"]]
)
def test_other_errors_stay_as_they_are(ask: Callable[..., str], arguments: list[str]) -> None:
    assert "shrinker" not in ask(*arguments)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["--cards", "3"],
            "shrinker: --cards is not part of this server (Ascend NPU, removed by rule "
            "remove-npu). Leave it out. "
            "To get it back, take rule remove-npu out of the profile and run `make shrink`.",
        ),
        (
            ["--cards=3", "--kind", "one"],
            "shrinker: --cards is not part of this server (Ascend NPU,",
        ),
        (["-c", "3"], "shrinker: -c is not part of this server (Ascend NPU,"),
        (
            ["--sort", "two"],
            "shrinker: --kind two is not part of this server (removed by rule no-two). "
            "To get it back, take rule no-two out of the profile and run `make shrink`.",
        ),
        (
            ["--lost"],
            "shrinker: --lost is not part of this server (unreachable: nothing kept uses it).",
        ),
    ],
)
def test_the_error_names_feature_rule_and_the_way_back(
    ask: Callable[..., str], arguments: list[str], told: str
) -> None:
    error = ask(*arguments)
    assert told in error and error.count("shrinker: ") == 1
    assert "unrecognized arguments" in error or "invalid choice" in error, (
        "upstream's own words stay"
    )


def test_each_removed_flag_is_told(ask: Callable[..., str]) -> None:
    assert ask("--cards", "1", "--lost").count("shrinker: ") == 2


def test_no_table_where_no_guard_stands() -> None:
    assert written(Guard(Span(1, 0, 1, 0))).OPTIONS
    assert written(Refuse(Span(1, 0, 1, 0), "sglang.look", "x")).OPTIONS == ()


def difference(
    kind: str, before: str = "", rule: str = "npu", names: tuple[str, ...] = ("--kind",)
) -> Difference:
    return Difference("sglang.args", "--kind", kind, before, "", rule, "args.py", 1, names)


def test_rows_are_what_kept_command_lines_lost() -> None:
    interface = Interface(
        (
            difference("removed", "2 flags", names=()),
            difference("removed", rule=UNEXPLAINED),
            difference("default changed", "'one'"),
            difference("choice removed", "Kind.TWO"),
            difference("removed"),
            difference("choice removed", "'three'"),
            difference("choice removed", "'four'"),
            difference("choice removed", "'two'"),
        )
    )
    rules = Ruleset(
        removes=(
            Remove(id="npu", why="No NPU is there.", feature="Ascend NPU", modules=("sglang.npu",)),
        ),
        refusals=(
            Refusal(
                id="refuse-two",
                why="Two is not there.",
                function="sglang.args.main",
                argument="self",
                attribute="kind",
                values=("two",),
                feature="the second kind",
                instead="Choose one.",
            ),
        ),
    )
    assert removed_options(interface, rules) == [
        Option(("--kind",), (), "Ascend NPU", "npu", ""),
        Option(("--kind",), ("four", "three"), "Ascend NPU", "npu", ""),
        Option(("--kind",), ("two",), "the second kind", "refuse-two", "Choose one."),
    ]


PLACE = "sglang.server.lifespan"
ENDPOINTS = [
    Endpoint(PLACE, "/v1/gone/{item}", "", ("GET", "POST"), "gone things", "remove-gone"),
    Endpoint(PLACE, "/old", "OLD_ROUTE", ("GET",), "", "no-old"),
    Endpoint(PLACE, "", "ROOT_ROUTE", ("HEAD",), "", "no-old"),
    Endpoint("sglang.other.lifespan", "/other", "", ("GET",), "", "no-other"),
    Endpoint("sglang.sockets.lifespan", "/v1/talk", "", ("WEBSOCKET",), "talking", "no-talk"),
]


@dataclass
class Route:
    path: str
    endpoint: Callable[[Any], Awaitable[Any]]
    methods: Any
    include_in_schema: bool

    def __post_init__(self) -> None:
        self.methods = {*self.methods, *(["HEAD"] if "GET" in self.methods else [])}


@dataclass
class WebSocketRoute:
    path: str
    endpoint: Callable[[Any], Awaitable[Any]]


class Socket:
    """A client's, which notes what it is told."""

    url = types.SimpleNamespace(path="/v1/talk")

    def __init__(self) -> None:
        self.told: list[Any] = []

    async def accept(self) -> None:
        self.told.append("open")

    async def send_json(self, content: Any) -> None:
        self.told.append(content)

    async def close(self, code: int, reason: str) -> None:
        self.told.append((code, reason))


@dataclass
class JSONResponse:
    content: Any
    status_code: int


@dataclass
class Application:
    router: types.SimpleNamespace = field(
        default_factory=lambda: types.SimpleNamespace(routes=["upstream's"])
    )


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Any], None]:
    for name, values in (("routing", [Route, WebSocketRoute]), ("responses", [JSONResponse])):
        module = types.ModuleType(f"starlette.{name}")
        vars(module).update({value.__name__: value for value in values})
        monkeypatch.setitem(sys.modules, f"starlette.{name}", module)
    monkeypatch.setitem(sys.modules, "starlette", types.ModuleType("starlette"))
    places = (PLACE, "sglang.other.lifespan", "sglang.sockets.lifespan", "sglang.no.one")
    edits = tuple(Refuse(Span(1, 0, 1, 0), place, "app") for place in places)
    look: Callable[[str, Any], None] = removed_features(
        "python/sglang/server.py", edits, endpoints=ENDPOINTS
    ).refuse
    return look


def filed(application: Application) -> list[Any]:
    assert application.router.routes[0] == "upstream's", "what the server has counts first"
    routes: list[Any] = application.router.routes[1:]
    return routes


async def _answer(route: Any, request: Any) -> Any:
    return await route.endpoint(request)


def test_removed_paths_are_filed_once_and_stay_out_of_the_document(
    refuse: Callable[[str, Any], None],
) -> None:
    application = Application()
    refuse(PLACE, application)
    refuse(PLACE, application)
    routes = filed(application)
    # FastAPI gives no HEAD with GET, and a path that only the environment names is not there
    # without it.
    assert [(r.path, r.methods) for r in routes] == [
        ("/v1/gone/{item}", {"GET", "POST"}),
        ("/old", {"GET"}),
    ]
    assert not any(r.include_in_schema for r in routes)


def test_paths_that_the_environment_names(
    refuse: Callable[[str, Any], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLD_ROUTE", "/mine")
    monkeypatch.setenv("ROOT_ROUTE", "/root")
    application = Application()
    refuse(PLACE, application)
    assert [(r.path, r.methods) for r in filed(application)][1:] == [
        ("/mine", {"GET"}),
        ("/root", {"HEAD"}),
    ]


def test_the_answer_names_feature_and_rule(refuse: Callable[[str, Any], None]) -> None:
    application = Application()
    refuse(PLACE, application)
    request = types.SimpleNamespace(method="POST", url=types.SimpleNamespace(path="/v1/gone/7"))
    first, second = [asyncio.run(_answer(route, request)) for route in filed(application)]
    assert first.status_code == 404 and first.content["error"]["code"] == "removed_feature"
    said = first.content["error"]["message"]
    for word in ("POST /v1/gone/7", "gone things", "remove-gone", "To get it back"):
        assert word in said
    assert "no-old" in second.content["error"]["message"]


def test_other_applications_are_left_alone(refuse: Callable[[str, Any], None]) -> None:
    application = Application()
    refuse("sglang.no.one", application)
    assert filed(application) == []


def test_a_socket_is_told_and_closed(refuse: Callable[[str, Any], None]) -> None:
    """A client sees no reason of a socket that is refused before it is open."""
    application, socket = Application(), Socket()
    refuse("sglang.sockets.lifespan", application)
    refuse("sglang.sockets.lifespan", application)
    [route] = filed(application)
    assert isinstance(route, WebSocketRoute)
    asyncio.run(_answer(route, socket))
    opened, error, closed = socket.told
    assert opened == "open"
    assert error["error"]["code"] == "removed_feature"
    for word in ("WEBSOCKET /v1/talk", "talking", "no-talk", "To get it back"):
        assert word in error["error"]["message"]
    assert closed == (1008, "removed_feature")
