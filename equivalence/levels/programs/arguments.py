"""Settle lists of a server's arguments, each in a child of one process that has loaded what settles them. Arguments: GIVEN.json RESULT.json."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import logging
import os
import re
import signal
import sys
from typing import Any

with open(sys.argv[1], encoding="utf-8") as file:
    given = json.load(file)

from sglang.srt.server_args import prepare_server_args

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
# No child looks through all that is loaded for what nothing refers to.
gc.freeze()
told: list[dict[str, Any]] = []
for case in given["cases"]:
    ours, theirs = os.pipe()
    process = os.fork()
    if not process:
        signal.alarm(given["seconds"])
        with os.fdopen(theirs, "w", encoding="utf-8") as out:
            json.dump(settled(case), out)
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, encoding="utf-8") as answer:
        text = answer.read()
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    told.append(json.loads(text) if text else {"error": f"ended with {code}", "environment": {}})
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(told, file)
os._exit(0)
