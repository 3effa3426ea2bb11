"""How a command ends: exit codes, errors for people and for scripts, and the signals that ask it to
stop.
"""

import atexit
import json
import os
import signal
import sys
import traceback
from types import FrameType
from typing import NoReturn

import typer

from shrinker.values.errors import ShrinkerError

INTERRUPTED = 130
BAD_INPUT = 2
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(app: typer.Typer) -> NoReturn:
    """Run a command and end the process: 0 done, 1 evidence failed, 2 bad usage or input, 130
    interrupted.
    """
    answer_signals()
    try:
        # By one name, however it was started: completion is installed for it.
        code = app(standalone_mode=False, prog_name="shrinker")
    except KeyboardInterrupt:
        code = INTERRUPTED
    except ShrinkerError as error:
        _fail(error.message, error.next_step, error.exit_code)
    except OSError as error:
        _fail(str(error), "check permissions and free space", BAD_INPUT)
    except Exception as error:
        if (
            isinstance(error, ModuleNotFoundError)
            and (error.name or "").partition(".")[0] == "tools"
        ):
            _fail(
                "this command needs the folder tools/, which a wheel has not",
                "run it in a checkout",
                BAD_INPUT,
            )
        usage = getattr(error, "format_message", None)
        if usage is None:
            traceback.print_exc()
            _fail(
                f"{type(error).__name__}: {error}",
                "this is a fault of shrinker: please report it",
                BAD_INPUT,
            )
        _fail(
            usage() or "no command given",
            "see `shrinker --help`",
            BAD_INPUT,
            shown=getattr(error, "show", None),
        )
    if code == INTERRUPTED:
        _fail("interrupted: nothing was left half written", "run the command again", INTERRUPTED)
    leave(code if isinstance(code, int) else 0)


def leave(code: int) -> NoReturn:
    """End the process at once, with everything written.

    A run makes millions of objects; to free them one by one takes longer than folding a changed
    module.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        # Nobody listens any more: the interpreter knows how to end then.
        sys.exit(code)
    atexit._run_exitfuncs()
    os._exit(code)


def answer_signals() -> None:
    """Let SIGTERM and a closed terminal end a run as Ctrl-C does, with its temporary folders
    removed.

    Worker processes leave the answer to this one: they ignore Ctrl-C, which reaches the whole
    group.
    """
    for number in _SIGNALS:
        # Ignored by the parent (nohup, a background job of a script): it stays ignored.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _stop)
    os.register_at_fork(after_in_child=_leave_to_parent)


def _stop(number: int, frame: FrameType | None) -> None:
    # The workers are not killed: one that dies while it sends a result leaves the pool waiting for
    # the rest of it. Each ends after the few files in hand, a second or two.
    raise KeyboardInterrupt


def _leave_to_parent() -> None:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)


def _fail(message: str, next_step: str, code: int, shown: object = None) -> NoReturn:
    if callable(shown):
        shown()
    else:
        print(f"error: {message}" if code != INTERRUPTED else message, file=sys.stderr)
        print(f"next: {next_step}\n" if next_step else "", file=sys.stderr, end="")
    # Not from the parsed options: a usage error has none.
    if "--json" in sys.argv[1:]:
        print(
            json.dumps(
                {"error": message, "exit": code, "next": next_step}, indent=1, sort_keys=True
            )
        )
    sys.exit(code)
