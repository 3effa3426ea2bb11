"""Requests for removed endpoints: the table, and what a server answers that was given it.

The library that serves is not installed for tests: a stand-in has the few names of it that a generated tree uses.
"""

from __future__ import annotations

import asyncio
import sys
import types
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from shrinker.emit.removed_features import Endpoint
from shrinker.values.edits import Refuse, Span
from tests.emit.small_tree import removed_features

PLACE = "sglang.server.lifespan"
ROWS = [
    Endpoint(PLACE, "/v1/gone/{item}", "", ("GET", "POST"), "gone things", "remove-gone"),
    Endpoint(PLACE, "/old", "OLD_ROUTE", ("GET",), "", "no-old"),
    Endpoint(PLACE, "", "ROOT_ROUTE", ("HEAD",), "", "no-old"),
    Endpoint("sglang.other.lifespan", "/other", "", ("GET",), "", "no-other"),
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
class JSONResponse:
    content: Any
    status_code: int


@dataclass
class Application:
    router: types.SimpleNamespace = field(default_factory=lambda: types.SimpleNamespace(routes=["upstream's"]))


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Any], None]:
    for name, value in (("routing", Route), ("responses", JSONResponse)):
        module = types.ModuleType(f"starlette.{name}")
        setattr(module, value.__name__, value)
        monkeypatch.setitem(sys.modules, f"starlette.{name}", module)
    monkeypatch.setitem(sys.modules, "starlette", types.ModuleType("starlette"))
    edits = tuple(Refuse(Span(1, 0, 1, 0), place, "app") for place in (PLACE, "sglang.other.lifespan", "sglang.no.one"))
    look: Callable[[str, Any], None] = removed_features("python/sglang/server.py", edits, endpoints=ROWS).refuse
    return look


def filed(application: Application) -> list[Route]:
    assert application.router.routes[0] == "upstream's", "what the server has counts first"
    routes: list[Route] = application.router.routes[1:]
    return routes


async def _answer(route: Route, request: Any) -> Any:
    return await route.endpoint(request)


def test_removed_paths_are_filed_once_and_stay_out_of_the_document(refuse: Callable[[str, Any], None]) -> None:
    application = Application()
    refuse(PLACE, application)
    refuse(PLACE, application)
    routes = filed(application)
    # FastAPI gives no HEAD with GET, and a path that only the environment names is not there without it.
    assert [(r.path, r.methods) for r in routes] == [("/v1/gone/{item}", {"GET", "POST"}), ("/old", {"GET"})]
    assert not any(r.include_in_schema for r in routes)


def test_paths_that_the_environment_names(refuse: Callable[[str, Any], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLD_ROUTE", "/mine")
    monkeypatch.setenv("ROOT_ROUTE", "/root")
    application = Application()
    refuse(PLACE, application)
    assert [(r.path, r.methods) for r in filed(application)][1:] == [("/mine", {"GET"}), ("/root", {"HEAD"})]


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
