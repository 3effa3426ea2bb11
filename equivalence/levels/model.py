"""Level *model*: the whole model is made of the same parts, and computes the same numbers.

Checks:
    configurations: published ones, built on the meta device as the server does. parameters,
        buffers, modules: names, shapes, types, strides and classes of these. checkpoint names:
        tensors of the published checkpoint that were loaded, with the same warnings.
    runs: tiny checkpoints, loaded, prefilled and decoded. weights, outputs, caches, logits: hashes
        of what these runs held and computed, of every module, equal bit for bit. routed experts:
        how many tokens each expert got, in each step.
    kernels: the set of kernels that were called, and no stub.

Limits: kernels are references and Triton's interpreter, so that nothing is said of compiled
kernels; FP8 is compared tree against tree only; no attention but Triton's and FlashAttention 3's
reference; no tensor parallelism here.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equivalence.levels.result import Ledger, both
from equivalence.levels.scenarios import CONFIGURATIONS, RUNS, Configuration, Run
from equivalence.levels.setting import GENERATED, SIDES, UPSTREAM, Call, Outcome, Setting, slug
from shrinker.values.outcome import LevelResult

_REQUIRED = {
    Configuration: ("configurations", "parameters", "modules", "checkpoint names"),
    Run: ("runs", "weights", "outputs", "caches", "logits", "routed experts", "kernels"),
}

_STEPS = 2


def run(
    upstream: Path,
    generated: Path,
    setting: Setting,
    asked: Sequence[Configuration | Run] = (*CONFIGURATIONS, *RUNS),
) -> LevelResult:
    """Compare what models are made of in both trees, built on the meta device, and what they
    compute.
    """
    trees = {UPSTREAM: upstream, GENERATED: generated}
    ledger = Ledger("model")
    required = dict.fromkeys(check for one in asked for check in _REQUIRED[type(one)])
    for one in ledger.admitted(asked, setting.expected):
        if (found := both(trees, setting, ledger, call_of(one, setting))) is not None:
            (_compare_parts if isinstance(one, Configuration) else _compare_numbers)(
                one.name, *found, ledger
            )
    return ledger.result([*required])


def call_of(one: Configuration | Run, setting: Setting) -> Call:
    """Return the program that builds a configuration, or computes a run."""
    given: dict[str, Any]
    if isinstance(one, Configuration):
        program, kind, model = (
            "meta",
            "meta",
            one.write(setting.work / "configurations" / slug(one.name)),
        )
        given = {"draft": one.draft, "load": one.load}
    else:
        program, kind, model = "forward", "run", setting.checkpoint(one.config)
        given = {"vocabulary": one.config["vocab_size"], "steps": _STEPS}
    given |= {"model": str(model), "options": one.words}
    name, follow = f"{kind}-{slug(one.name)}", f"{one!r} {one.config} {one.words}"
    return Call(program, dict.fromkeys(SIDES, given), 300, name, one.capability, follow)


def _compare_parts(name: str, upstream: Outcome, generated: Outcome, ledger: Ledger) -> None:
    before, after = upstream.data, generated.data
    ledger.checks["configurations"] += 1
    for key in ("class", "quantization", "arguments", "elements"):
        ledger.same("configurations", f"{name}: {key}", before[key], after[key])
    for key in ("parameters", "buffers", "modules"):
        ledger.same(key, name, before[key], after[key], count=len(after[key]))
    if "loaded" in after:
        count = after["loaded"]["names"]
        ledger.same("checkpoint names", name, before.get("loaded"), after["loaded"], count=count)
    elements = (
        f"{after['elements'] / 1e9:.2f} billion elements, {len(after['parameters'])} parameters"
    )
    ledger.figures.append((name, f"{elements}, class {after['class'].rpartition('.')[2]}"))
    ledger.compare_calls(upstream.called, generated.called, name)


def _compare_numbers(name: str, upstream: Outcome, generated: Outcome, ledger: Ledger) -> None:
    before, after = upstream.data, generated.data
    ledger.checks["runs"] += 1
    for key in ("class", "backend", "finite"):
        ledger.same("runs", f"{name}: {key}", before[key], after[key])
    if not after["finite"]:
        ledger.find("runs", "", f"{name}: logits are not finite, so that equal ones say little")
    ledger.same(
        "weights", name, before["parameters"], after["parameters"], count=len(after["parameters"])
    )
    for key, check in (
        ("outputs", "outputs"),
        ("cache", "caches"),
        ("steps", "logits"),
        ("experts", "routed experts"),
    ):
        # The first place where two sequences differ: what follows depends on it.
        ledger.same(check, name, before[key], after[key], most=1, count=len(after[key]))
    ledger.compare_calls(upstream.called, generated.called, name)
