"""Settle lists of a server's arguments, each in a child of one process that has loaded what settles them. Arguments: GIVEN.json RESULT.json."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import re
import sys
from functools import partial
from typing import Any

with open(sys.argv[1], encoding="utf-8") as file:
    given = json.load(file)

from sglang.srt.server_args import prepare_server_args

from equivalence.processes import in_child

ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def settled(arguments: list[str]) -> dict[str, Any]:
    """The fields that the arguments lead to, or the error, and the environment variables that were set."""
    before, said = dict(os.environ), io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            made = prepare_server_args(arguments)
            made.check_server_args()
        found: dict[str, Any] = {"fields": {name: ADDRESS.sub("", repr(value)) for name, value in vars(made).items()}}
    except SystemExit:
        found = {"error": said.getvalue().strip().rpartition("\n")[2]}
    except Exception as error:
        found = {"error": f"{type(error).__name__}: {error}"}
    return found | {"environment": {name: text for name, text in os.environ.items() if before.get(name) != text}}


logging.disable(logging.CRITICAL)
told: list[dict[str, Any]] = []
for case in given["cases"]:
    code, found = in_child(partial(settled, case), f"{sys.argv[2]}.case", given["seconds"])
    told.append(found or {"error": f"ended with {code}", "environment": {}})
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(told, file)
os._exit(0)
