"""A function called in a child that knows all that is loaded, and nothing of other children."""

from __future__ import annotations

import gc
import json
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any


def in_child(show: Callable[[], Any], place: str, seconds: int) -> tuple[int, Any]:
    """Call a function in a child, which ends with all that it started.

    Args:
        show: what the child calls; its result is written as JSON.
        place: the file for it, made again.
        seconds: after which the child is ended.

    Returns:
        How the child ended, and the result; None where it wrote none.
    """
    with suppress(FileNotFoundError):
        os.unlink(place)
    # No child looks through all that is loaded for what nothing refers to.
    gc.freeze()
    child = os.fork()
    if not child:
        os.setsid()
        signal.alarm(seconds)
        shown = show()
        with open(place, "w", encoding="utf-8") as file:
            json.dump(shown, file)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    if code or not os.path.exists(place):
        return code, None
    with open(place, encoding="utf-8") as file:
        return code, json.load(file)
