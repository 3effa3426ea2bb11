"""Settle lists of a server's arguments, each in a child of one process that has loaded what settles
them. Arguments: GIVEN.json RESULT.json.

The first list finds nothing more loaded than a server does; what it loads is loaded for the others,
so that what an import sets is told once.
"""

import contextlib
import importlib
import io
import logging
import os
import re
import sys
import typing
from collections.abc import Callable
from functools import partial
from typing import Any

from equivalence.processes import given, in_child, tell

WHOLE: dict[str, Any] = {"include_extras": True}
meant, known = typing.get_type_hints, dict[int, dict[str, Any]]()


def hints(described: Any, *scope: Any, **options: Any) -> dict[str, Any]:
    """Return what annotations mean; each child spent half of its time on finding that anew for the
    class of all arguments.
    """
    found = known.get(id(described)) if options == WHOLE else None
    return dict(found) if found else meant(described, *scope, **options)


# Before anything takes it by its name.
typing.get_type_hints = hints  # type: ignore[assignment]
from sglang.srt import server_args  # noqa: E402

with contextlib.suppress(Exception):
    known[id(server_args.ServerArgs)] = meant(server_args.ServerArgs, **WHOLE)
asked = given()

ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def settled(arguments: list[str]) -> dict[str, Any]:
    """Return the fields that the arguments lead to, or the error, and the environment variables
    that were set.
    """
    before, said = dict(os.environ), io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            made = server_args.prepare_server_args(arguments)
            made.check_server_args()
        found: dict[str, Any] = {
            "fields": {name: ADDRESS.sub("", repr(value)) for name, value in vars(made).items()}
        }
    except SystemExit:
        found = {"error": said.getvalue().strip().rpartition("\n")[2]}
    except Exception as error:
        found = {"error": f"{type(error).__name__}: {error}"}
    return found | {
        "environment": {name: text for name, text in os.environ.items() if before.get(name) != text}
    }


def loading(arguments: list[str]) -> dict[str, Any]:
    """Return the same, and the modules that it loaded."""
    known = set(sys.modules)
    return settled(arguments) | {"loaded": [name for name in sys.modules if name not in known]}


def told(show: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what a child shows; without it, how it ended."""
    code, found = in_child(show, asked["seconds"])
    return found or {"error": f"ended with {code}", "environment": {}}


logging.disable(logging.CRITICAL)
first, *others = asked["cases"]
every = [told(partial(loading, first))]
for name in every[0].pop("loaded", []):
    with contextlib.suppress(Exception):
        importlib.import_module(name)
every += [told(partial(settled, case)) for case in others]
tell(every)
