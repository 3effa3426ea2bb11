"""Ask commands for help, each in a child of a process that has loaded what every one of them does. Arguments: GIVEN.json RESULT.json."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import runpy
import sys
from functools import partial

from equivalence.processes import in_child

with open(sys.argv[1], encoding="utf-8") as file:
    given = json.load(file)


def child(place: str, kind: str, program: str) -> None:
    """What `python -m MODULE --help` or `python -c CODE --help` does; it ends as that does, and does not come back."""
    os.dup2(os.open(place, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), 1)
    os.dup2(1, 2)
    sys.path[0] = os.getcwd() if kind == "-m" else ""
    sys.argv = [kind, "--help"]
    if kind == "-m":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        exec(program, {"__name__": "__main__"})
    sys.exit()


# A width at which no entry is broken by the length of its choices alone.
os.environ["COLUMNS"] = "200"
# Nothing of the tree: what its modules do while they are loaded is each command's own.
for name in ("torch", "transformers.masking_utils", "openai", "fastapi", "triton"):
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
told: dict[str, tuple[int, str]] = {}
for name, (kind, program) in given["commands"].items():
    place = f"{sys.argv[2]}.{len(told)}.txt"
    code, _ = in_child(partial(child, place, kind, program), f"{place}.none", given["seconds"])
    with open(place, encoding="utf-8", errors="replace") as file:
        told[name] = (code, file.read())
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(told, file)
os._exit(0)
