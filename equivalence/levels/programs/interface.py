"""Load what the server does, and write what that took; then the OpenAPI document, what the
registries hold, and what the server's flags take. Arguments: GIVEN.json RESULT.json.
"""

import argparse
import importlib
import importlib.metadata
import os
import pkgutil
import sys
import time
from collections.abc import Iterator
from typing import Any

from equivalence.processes import given, tell


def described(value: Any) -> str:
    """Return a class or function by its full name; anything else by its type."""
    value = getattr(value, "func", value)
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    return f"{module}.{name}" if isinstance(module, str) and name else f"({type(value).__name__})"


def served(routes: Any) -> Iterator[str]:
    """Method and path of every route, those of included routers too (newer FastAPI keeps them
    apart).
    """
    for route in routes:
        if hasattr(route, "path"):
            for method in getattr(route, "methods", None) or ["*"]:
                yield f"{method} {route.path}"
        else:
            yield from served(getattr(route, "original_router", route).routes)


def registry(place: str) -> dict[str, str] | None:
    """Return rows of `module:attribute.attribute`, a dictionary or an object with items; None where
    there is none.
    """
    try:
        found: Any = pkgutil.resolve_name(place)
    except (ImportError, AttributeError):
        return None
    return {str(key): described(row) for key, row in dict(found).items()}


def taken(action: argparse.Action) -> tuple[str, list[str] | None, str]:
    """Return a flag, its choices, and whether it is a switch, takes a number or takes a text."""
    choices = [str(choice) for choice in action.choices] if action.choices else None
    number = getattr(action.type, "__name__", "") in ("int", "float", "human_readable_int")
    return (
        action.option_strings[0],
        choices,
        "switch" if action.nargs == 0 else "number" if number else "text",
    )


def loading(modules: list[str]) -> dict[str, Any]:
    """Import modules: seconds, processor time, what is loaded then of the tree and of which
    distributions, and bytes of memory.
    """
    start, used = time.perf_counter(), time.process_time()
    for name in modules:
        importlib.import_module(name)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    with open(
        "/proc/self/status" if os.path.exists("/proc/self/status") else os.devnull, encoding="utf-8"
    ) as file:
        resident = sum(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS:"))
    owners, loaded = importlib.metadata.packages_distributions(), sorted(sys.modules)
    tops = {name.partition(".")[0] for name in loaded}
    return {
        "seconds": seconds,
        "processor": used,
        "memory": resident,
        "modules": [name for name in loaded if name.partition(".")[0] == "sglang"],
        "distributions": sorted({owner for top in tops for owner in owners.get(top, ())}),
    }


asked = given()
# First: nothing is loaded yet.
loaded = loading(asked["server"])
from sglang.srt.entrypoints import http_server  # noqa: E402
from sglang.srt.models.registry import ModelRegistry  # noqa: E402
from sglang.srt.server_args import ServerArgs  # noqa: E402

result = {
    "loading": loaded,
    "openapi": http_server.app.openapi(),
    "routes": sorted(served(http_server.app.routes)),
    "registries": {place: registry(place) for place in asked["registries"]},
}
resolved = result["architectures"] = {}
for name in asked["architectures"]:
    try:
        found, architecture = ModelRegistry.resolve_model_cls([name])
        resolved[name] = f"{described(found)} for {architecture}"
    except Exception as error:
        resolved[name] = f"{type(error).__name__}: {error}"[:300]
parser = argparse.ArgumentParser(add_help=False)
ServerArgs.add_cli_args(parser)
result["flags"] = [taken(action) for action in parser._actions if action.option_strings]
tell(result, sort_keys=True)
