"""The end of `removed_features`: what a run, or a client, asks of a server and does not get. Both are one module in a tree."""

import contextlib
import importlib
import json
import os
from typing import Any

from shrinker.emit.removed_features import (
    ENDPOINTS,
    REFUSALS,
    SWITCHES,
    Endpoint,
    RemovedFeatureError,
    _told,
)

# What is written into a tree begins here.


def refuse(place: str, argument: Any) -> None:
    """End the run with the feature, the rule that removed it and the way to get it back, if it asks for one.

    Raises:
        RemovedFeatureError: the first row that refuses.
    """
    for name, rule in [(name, rule) for rule, names in SWITCHES for name in names.split()]:
        text = os.environ.get(name.rstrip("="), "").strip().lower()
        if text if name.endswith("=") else text in ("1", "true", "yes", "y", "on"):
            raise RemovedFeatureError(
                f"shrinker: the switch {name.rstrip('=')} asks for code that is not part of this server (rule {rule}). "
                f"Unset it. To get the code back, take rule {rule} out of the profile and run `make shrink`."
            )
    looks = [(row, attribute) for row in REFUSALS if row.place == place for attribute in row.attributes]
    for row, attribute in looks:
        file, _, path = attribute.rpartition(":")
        value = _read_checkpoint(argument, file) if file else argument
        for part in filter(None, path.split(".")):
            value = value.get(part) if isinstance(value, dict) else getattr(value, part, None)
        for one in _values(value):
            if row.refuses(one):
                name = path.rpartition(".")[2] or row.place.rpartition(".")[2]
                raise RemovedFeatureError(_told(f"{name}={one}", row.feature, row.rule, row.instead))

    gone = [row for row in ENDPOINTS if row.place == place]
    if gone:
        _answer(argument, gone)
    if hasattr(argument, "add_exception_handler"):
        _answer_refusals(argument)
    if hasattr(argument, "send_communicator_req"):
        _look_at_requests(place, argument)


def _read_checkpoint(model: Any, name: str) -> Any:
    """Read a JSON file of a checkpoint, which is a folder or the name of a repository.

    It is empty where it cannot be read: who loads the checkpoint next says why.
    """
    with contextlib.suppress(Exception):
        path: Any = os.path.join(model, name)
        if not os.path.isdir(model):
            path = importlib.import_module("transformers.utils").cached_file(str(model), name)
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    return {}


def _answer(application: Any, rows: list[Endpoint]) -> None:
    """File removed paths with a Starlette application, below all that it has.

    The answer is 404, as of any server that lacks a path, since clients do not ask again then, as they do after 501. It is
    no part of the OpenAPI document. A socket is opened, told the same, and closed: a client sees nothing of one that
    is not opened.
    """
    json_response = importlib.import_module("starlette.responses").JSONResponse
    routing = importlib.import_module("starlette.routing")

    def error_of(row: Endpoint, asked: str) -> dict[str, Any]:
        message = _told(f"the endpoint {asked}", row.feature, row.rule)
        return {"error": {"message": message, "type": "NotFoundError", "param": None, "code": "removed_feature"}}

    def answering(row: Endpoint) -> Any:
        async def removed_endpoint(request: Any) -> Any:
            return json_response(error_of(row, f"{request.method} {request.url.path}"), status_code=404)

        async def removed_socket(socket: Any) -> None:
            await socket.accept()
            await socket.send_json(error_of(row, f"WEBSOCKET {socket.url.path}"))
            await socket.close(code=1008, reason="removed_feature")

        return removed_socket if "WEBSOCKET" in row.methods else removed_endpoint

    filed = {getattr(getattr(route, "endpoint", None), "__qualname__", "") for route in application.router.routes}
    for row in rows:
        path = os.environ.get(row.environment, row.path) if row.environment else row.path
        if not path.startswith("/"):
            continue
        endpoint = answering(row)
        if endpoint.__qualname__ in filed:
            return
        if "WEBSOCKET" in row.methods:
            application.router.routes.append(routing.WebSocketRoute(path, endpoint))
            continue
        route = routing.Route(path, endpoint, methods=list(row.methods), include_in_schema=False)
        # Starlette adds HEAD where GET is, FastAPI does not.
        route.methods = set(row.methods)
        application.router.routes.append(route)


def _answer_refusals(application: Any) -> None:
    """Answer a request that asks for something removed with status 400 and the text of the error.

    A Starlette application has made its middleware by the time its lifespan begins: what it is told
    of later counts only where the layer that handles errors is told, too.
    """
    json_response = importlib.import_module("starlette.responses").JSONResponse

    async def refused_request(request: Any, error: Exception) -> Any:
        if request.scope["type"] != "http":
            raise error
        said = {"message": str(error), "type": "BadRequestError", "param": None, "code": "removed_feature"}
        return json_response({"error": said}, status_code=400)

    layer = application
    while layer is not None:
        if hasattr(layer, "add_exception_handler"):
            layer.add_exception_handler(RemovedFeatureError, refused_request)
        first = layer is application
        layer = getattr(layer, "middleware_stack" if first else "app", None)


def _look_at_requests(place: str, manager: Any) -> None:
    """Look at each request that a gRPC server sends to the scheduler, where an error would end all."""
    send = manager.send_communicator_req

    async def send_communicator_req(request: Any, *arguments: Any, **named: Any) -> Any:
        refuse(place, request)
        return await send(request, *arguments, **named)

    manager.send_communicator_req = send_communicator_req


def _values(value: Any) -> list[str]:
    if value is None or value is False or value == "":
        return []
    if isinstance(value, (list, tuple, set, dict)):
        return [str(item) for item in value]
    return [str(getattr(value, "value", value))]
