"""Import modules one after the other; write which fail, and how.

Arguments: GIVEN.json RESULT.json.
"""

import importlib
import logging
import os
import re
import signal
import warnings
from typing import Any

from equivalence.processes import given, tell


def said(error: BaseException) -> str:
    """Kind and text of an error, without what differs between two runs of the same program."""
    text = str(error).replace(root, "<tree>")
    return f"{type(error).__name__}: {re.sub(r'0x[0-9a-f]+', '0x', text)[:500]}"


class TooLong(BaseException):
    """An import that waits for something; no `except Exception` of a module takes it."""


def end(signum: int, frame: Any) -> None:
    """Say where the import waits."""
    stack = [frame]
    while stack[-1].f_back is not None:
        stack.append(stack[-1].f_back)
    files = [
        f"{f.f_code.co_filename}:{f.f_lineno}"
        for f in stack
        if "importlib" not in f.f_code.co_filename
    ]
    raise TooLong(f"still not imported after {asked['seconds']} s, at " + " < ".join(files[:3]))


asked = given()
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
# A message may name what lies beside the package.
root = os.path.dirname(asked["root"])
failed = {}
signal.signal(signal.SIGALRM, end)
for name in asked["modules"]:
    signal.alarm(asked["seconds"])
    try:
        importlib.import_module(name)
    except (Exception, SystemExit, TooLong) as error:
        failed[name] = said(error)
    finally:
        signal.alarm(0)
tell({"failed": failed})
