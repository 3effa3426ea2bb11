"""How commands explain themselves: summaries in one piece, and examples below the options."""

from itertools import groupby
from typing import Any

from typer.core import TyperGroup

_EXAMPLES = """
shrinker shrink
shrinker shrink --upstream release:0.5.14 --out dist/older
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
shrinker diff release:0.5.14 release:0.5.15.post1
shrinker diff dist/older dist/sglang_deepseek --html diff.html
shrinker check-upstream release:0.5.16
shrinker check-upstream git:../sglang@main --since release:0.5.15.post1
shrinker bump --release 0.5.16
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
shrinker why-not mem_cache/common.py:181
shrinker why-not --why-live is_multimodal_chunked_prefill_supported
"""
EXAMPLES = {name: (*lines,) for name, lines in groupby(_EXAMPLES.split("\n")[1:-1], lambda line: line.split()[1])}
"""By command; a test parses each as the command itself would."""


class Commands(TyperGroup):
    """Lists commands each with the whole first sentence of its help, folded where the line ends.

    What a shell offers stays short: it takes a second line for another answer.
    """

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list."""
        with formatter.section("Commands"):
            helps = {name: " ".join((self.commands[name].help or "").split()) for name in self.list_commands(ctx)}
            formatter.write_dl([(name, text.partition(". ")[0].rstrip(".") + ".") for name, text in helps.items()])


def examples(name: str) -> str:
    """What stands below the options of a command."""
    # `\b` keeps the lines as they are.
    return "\n".join(["Examples:", "", "\b", *(f"  {line}" for line in EXAMPLES[name])])
