"""The command line: generate a server from a release or commit of SGLang, judge it, and ask why something is in it or not.

Exit codes: 0 done, 1 evidence failed (`diff`: the trees differ; `check-upstream`: there is something to look at),
2 bad usage or input, 130 interrupted (Ctrl-C, SIGTERM).

With --json standard output holds exactly one JSON document and everything else goes to standard
error. A command that ends without its result (exit code 2 or 130, or 1 from `shrink`) gives the
document {"error": text, "exit": code, "next": what to do}.
"""

import gc
import sys
from copy import copy
from typing import Annotated

import typer

from shrinker import __version__
from shrinker.cli.ending import run
from shrinker.cli.explain import dependencies, explain, kernels, why, why_not
from shrinker.cli.help import Commands, examples
from shrinker.cli.leftovers import cross_check, leftovers
from shrinker.cli.mutate import mutate
from shrinker.cli.rules import ablate, profiles, rules
from shrinker.cli.shrink import shrink
from shrinker.cli.upgrade import bump, check_upstream, diff, publish
from shrinker.cli.verify import gpu_bundle, verify

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    help=__doc__,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_GENERATE = (shrink, verify, leftovers, mutate, cross_check)
_ASK = (dependencies, kernels, explain, why, why_not, profiles, rules, ablate)
_UPGRADE = (diff, check_upstream, bump, publish, gpu_bundle)
for _command in (*_GENERATE, *_ASK, *_UPGRADE):
    _name = _command.__name__.replace("_", "-")
    # A flag of the server is a name to explain, and no option of the command.
    _settings = {"ignore_unknown_options": True} if _command is explain else None
    app.command(_name, epilog=examples(_name), context_settings=_settings)(_command)


@app.callback(invoke_without_command=True)
def _version(show: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if show:
        print(f"shrinker {__version__}")
        raise typer.Exit(0)


def main() -> None:
    """Entry point."""
    # Syntax trees are many and no garbage: looking through them takes a sixth of the time.
    gc.set_threshold(100_000)
    # Only what is called: to prepare all commands takes as long as `why` takes to look its answer up.
    called = [command for command in app.registered_commands if command.name == "".join(sys.argv[1:2])]
    asked = copy(app)
    asked.registered_commands = called or app.registered_commands
    run(asked)
