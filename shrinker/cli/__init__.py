"""The command line: generate a server from a release or commit of SGLang, judge it, and ask why
something is in it or not.

Exit codes: 0 done, 1 evidence failed (`diff`: the trees differ; `check-upstream`: there is
something to look at), 2 bad usage or input, 130 interrupted (Ctrl-C, SIGTERM).

With --json standard output holds exactly one JSON document and everything else goes to standard
error. A command that ends without its result (exit code 2 or 130, or 1 from `shrink`) gives the
document {"error": text, "exit": code, "next": what to do}.
"""

import gc
import sys
from copy import copy
from itertools import groupby
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from shrinker import __version__
from shrinker.cli.audit import cross_check, leftovers, mutate
from shrinker.cli.ending import run
from shrinker.cli.explain import dependencies, explain, kernels, why, why_not
from shrinker.cli.generate import bump, check_upstream, diff, publish, shrink
from shrinker.cli.rules import ablate, profiles, rules
from shrinker.cli.verify import gpu_bundle, verify

_EXAMPLES = """
shrinker shrink
shrinker shrink --upstream release:0.5.22 --out dist/older
shrinker shrink --upstream git:../sglang@main --profile deepseek-r1-minimal
shrinker verify
shrinker verify --level imports --out dist/older
shrinker verify --program ../our-service --program ../our-notebooks
shrinker verify --all --timeout-factor 3
shrinker verify --level gpu -- --checkpoints DIR --gpus 0,1
shrinker leftovers
shrinker leftovers --all --out dist/older
shrinker mutate --count 200 --seed 0 --seed 1
shrinker mutate --breakages
shrinker cross-check
shrinker cross-check --all
shrinker dependencies
shrinker dependencies --sizes
shrinker diff release:0.5.22 release:0.5.23
shrinker diff dist/older dist/sglang_deepseek --html diff.html
shrinker check-upstream release:0.5.24
shrinker check-upstream git:../sglang@main --since release:0.5.23
shrinker bump --release 0.5.24
shrinker bump --commit main --summary dist/summary.md
shrinker publish --remote git@host:me/tree.git --branch deepseek
shrinker gpu-bundle -- pack DIR --package sglang-kernel==0.4.4 --arch 90
shrinker gpu-bundle unpack DIR TARGET
shrinker kernels
shrinker kernels --no-chains --out dist/sglang_deepseek_r1_minimal
shrinker ablate switch-aiter
shrinker profiles
shrinker profiles --rules my-rules --json
shrinker rules
shrinker rules platform-hip switch-aiter
shrinker rules --unused --profile deepseek-r1-minimal
shrinker explain RadixCache.match_prefix
shrinker explain --attention-backend
shrinker explain SGLANG_USE_AITER
shrinker explain --retained srt/lora/
shrinker explain managers/scheduler.py:100
shrinker why sglang.srt.layers.moe.topk
shrinker why RadixCache.match_prefix --all
shrinker why rmsnorm
shrinker why --sample 20 --seed 1
shrinker why-not sglang.srt.models.qwen3
shrinker why-not mem_cache/kv_cache_dtype.py:64
shrinker why-not --why-live is_multimodal_chunked_prefill_supported
"""
EXAMPLES = {
    name: (*lines,)
    for name, lines in groupby(_EXAMPLES.split("\n")[1:-1], lambda line: line.split()[1])
}
"""By command; a test parses each as the command itself would."""


class Commands(TyperGroup):
    """Lists commands each with the whole first sentence of its help, folded where the line ends.

    What a shell offers stays short: it takes a second line for another answer.
    """

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list."""
        with formatter.section("Commands"):
            helps = {
                name: " ".join((self.commands[name].help or "").split())
                for name in self.list_commands(ctx)
            }
            formatter.write_dl(
                [(name, text.partition(". ")[0].rstrip(".") + ".") for name, text in helps.items()]
            )


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
    # `\b` keeps the lines as they are.
    _epilog = "\n".join(["Examples:", "", "\b", *(f"  {line}" for line in EXAMPLES[_name])])
    app.command(_name, epilog=_epilog, context_settings=_settings)(_command)


@app.callback(invoke_without_command=True)
def _version(
    show: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if show:
        print(f"shrinker {__version__}")
        raise typer.Exit(0)


def main() -> None:
    """Entry point."""
    # Syntax trees are many and no garbage: looking through them takes a sixth of the time.
    gc.set_threshold(100_000)
    # Only what is called: to prepare all commands takes as long as `why` takes to look its answer
    # up.
    called = [
        command for command in app.registered_commands if command.name == "".join(sys.argv[1:2])
    ]
    asked = copy(app)
    asked.registered_commands = called or app.registered_commands
    run(asked)
