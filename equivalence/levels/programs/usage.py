"""Ask commands for help, each in a child of a process that has loaded the libraries of those before. Arguments: GIVEN.json RESULT.json."""

import contextlib
import importlib
import json
import os
import runpy
import sys
import traceback
from functools import partial
from typing import Any

from equivalence.processes import given, in_child, tell

asked = given()


def libraries(place: str) -> None:
    """Write the names of what is loaded, but of nothing of the tree: what its modules do while they are loaded is each command's own."""
    with open(place, "w", encoding="utf-8") as file:
        json.dump([name for name in sys.modules if name.partition(".")[0] != "sglang"], file)


def child(place: str, known: str, kind: str, program: str) -> None:
    """What `python -m MODULE --help` or `python -c CODE --help` does; it ends as that does, and does not come back."""
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
    libraries(known)
    sys.stdout.flush()
    # What is loaded is not taken down piece by piece: that takes longer than most commands do.
    os._exit(code or 0)


# A width at which no entry is broken by the length of its choices alone.
os.environ["COLUMNS"] = "200"
for library in ("torch", "transformers.masking_utils", "openai", "fastapi", "triton"):
    with contextlib.suppress(ImportError):
        importlib.import_module(library)
told: dict[str, tuple[int, str]] = {}
for name, (kind, program) in asked["commands"].items():
    place = f"{sys.argv[2]}.{len(told)}.txt"
    known = f"{place}.libraries"
    code, _ = in_child(partial(child, place, known, kind, program), f"{place}.none", asked["seconds"])
    with open(place, encoding="utf-8", errors="replace") as file:
        told[name] = (code, file.read())
    if os.path.exists(known):
        with open(known, encoding="utf-8") as file:
            for library in json.load(file):
                with contextlib.suppress(Exception):
                    importlib.import_module(library)
tell(told)
