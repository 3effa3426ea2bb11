"""Runs programs for tests of packages, each in a fresh process: a small server that forks.

It reads a line with the folder to run in, and answers with a line of JSON: what
`python -m sglang.launch_server` prints there, and the error that it ends with. A fork of a process
that has loaded next to nothing takes a few milliseconds, and shows what no other program loaded.
"""

import io
import json
import os
import runpy
import sys
import warnings

SECONDS = 20


def _run(folder: str) -> dict[str, str]:
    """Run the program of a folder in this process."""
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    warnings.simplefilter("ignore")
    printed = io.StringIO()
    sys.stdout = printed
    error = ""
    try:
        runpy.run_module("sglang.launch_server", run_name="__main__", alter_sys=True)
    except BaseException as raised:
        error = f"{type(raised).__name__}: {raised}"
    return {"printed": printed.getvalue(), "error": error.replace(folder, "")}


def _answer(folder: str) -> bytes:
    """Run the program of a folder in a child, and take what it wrote."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        import signal

        signal.alarm(SECONDS)
        with os.fdopen(writes, "wb") as pipe:
            pipe.write(json.dumps(_run(folder)).encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        found = pipe.read()
    os.waitpid(child, 0)
    return found or json.dumps({"printed": "", "error": "the process was killed"}).encode()


if __name__ == "__main__":
    for line in sys.stdin:
        os.write(1, _answer(line.rstrip("\n")) + b"\n")
