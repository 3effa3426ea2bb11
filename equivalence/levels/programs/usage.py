"""Ask commands for help, each in a child of a process that has loaded the libraries of those
before. Arguments: GIVEN.json RESULT.json.
"""

import contextlib
import importlib
import os
import runpy
import sys
import traceback
from functools import partial
from typing import Any

from equivalence.processes import given, in_child, tell

asked = given()


def child(place: str, kind: str, program: str) -> tuple[int, list[str]]:
    """Return what `python -m MODULE --help` or `python -c CODE --help` does: how it ends, and what
    it loads.

    Nothing of the tree is told: what its modules do while they are loaded is each command's own.
    """
    os.dup2(os.open(place, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), 1)
    os.dup2(1, 2)
    sys.path[0] = os.getcwd() if kind == "-m" else ""
    sys.argv = [kind, "--help"]
    code: Any = 0
    try:
        if kind == "-m":
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        else:
            exec(program, {"__name__": "__main__"})
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    sys.stdout.flush()
    return code or 0, [name for name in sys.modules if name.partition(".")[0] != "sglang"]


# A width at which no entry is broken by the length of its choices alone.
os.environ["COLUMNS"] = "200"
for library in ("torch", "transformers.masking_utils", "openai", "fastapi", "triton"):
    with contextlib.suppress(ImportError):
        importlib.import_module(library)
told: dict[str, tuple[int, str]] = {}
for name, (kind, program) in asked["commands"].items():
    place = f"{sys.argv[2]}.{len(told)}.txt"
    killed, shown = in_child(partial(child, place, kind, program), asked["seconds"])
    code, libraries = shown or (killed, [])
    with open(place, encoding="utf-8", errors="replace") as file:
        told[name] = (code, file.read())
    for library in libraries:
        with contextlib.suppress(Exception):
            importlib.import_module(library)
tell(told)
