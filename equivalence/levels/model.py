"""Level *model*: the whole model is made of the same parts, and computes the same numbers.

Checks:
    configurations: published ones, built on the meta device as the server does.
    parameters, buffers, modules: names, shapes, types, strides and classes of these.
    checkpoint names: tensors of the published checkpoint that were loaded, with the same warnings.
    runs: tiny checkpoints, loaded, prefilled and decoded.
    weights, outputs, caches, logits: hashes of what these runs held and computed, of every module, equal bit for bit.
    routed experts: how many tokens each expert got, in each step.
    kernels: the set of kernels that were called, and no stub.

Limits: kernels are references and Triton's interpreter, so that nothing is said of compiled kernels; FP8 is compared tree
against tree only; no attention but Triton's and FlashAttention 3's reference; no tensor parallelism here.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from equivalence.checkpoints.weights import small
from equivalence.levels.result import Ledger, both
from equivalence.levels.scenarios import COMMON, CONFIGURATIONS, RUNS, Configuration, Run
from equivalence.levels.setting import GENERATED, SIDES, UPSTREAM, Call, Setting, slug
from shrinker.values.outcome import LevelResult

_REQUIRED = ("configurations", "parameters", "modules", "checkpoint names")
_REQUIRED_RUNS = ("runs", "weights", "outputs", "caches", "logits", "routed experts", "kernels")

_VOCABULARY = 1024
_STEPS = 2


def run(
    upstream: Path,
    generated: Path,
    setting: Setting,
    *,
    configurations: Sequence[Configuration] = CONFIGURATIONS,
    runs: Sequence[Run] = RUNS,
) -> LevelResult:
    """Compare what models are made of in both trees, built on the meta device, and what they compute."""
    trees = {UPSTREAM: upstream, GENERATED: generated}
    ledger = Ledger("model")
    for configuration in ledger.admitted(configurations, setting.expected):
        _build(configuration, trees, setting, ledger)
    for one in ledger.admitted(runs, setting.expected):
        _compute(one, trees, setting, ledger)
    return ledger.result([*(_REQUIRED if configurations else ()), *(_REQUIRED_RUNS if runs else ())])


def meta_call(configuration: Configuration, setting: Setting) -> Call:
    """The program that builds a configuration."""
    model = configuration.write(setting.work / "configurations" / slug(configuration.name))
    options = f"{COMMON['configuration']} {configuration.options}"
    return _call("meta", "meta", configuration, model, options, draft=configuration.draft, load=configuration.load)


def run_call(one: Run, setting: Setting) -> Call:
    """The program that computes a run."""
    model = setting.checkpoint(small(**{"vocab_size": _VOCABULARY, **one.shape}))
    options = f"{COMMON['run']} {one.options}"
    return _call("forward", "run", one, model, options, vocabulary=_VOCABULARY, steps=_STEPS)


def _call(program: str, kind: str, one: Configuration | Run, model: Path, options: str, **given: Any) -> Call:
    given |= {"model": str(model), "options": options.split()}
    follow = f"{one!r} {one.config}"
    return Call(program, dict.fromkeys(SIDES, given), 300, f"{kind}-{slug(one.name)}", one.capability, follow)


def _build(configuration: Configuration, trees: Mapping[str, Path], setting: Setting, ledger: Ledger) -> None:
    if (found := both(trees, setting, ledger, meta_call(configuration, setting))) is None:
        return
    name = configuration.name
    ledger.count("configurations")
    before, after = (outcome.data for outcome in found)
    for key in ("class", "quantization", "arguments", "elements"):
        ledger.same("configurations", f"{name}: {key}", before[key], after[key])
    for key in ("parameters", "buffers", "modules"):
        ledger.same(key, name, before[key], after[key], count=len(after[key]))
    if configuration.load:
        count = after["loaded"]["names"]
        ledger.same("checkpoint names", name, before["loaded"], after["loaded"], count=count)
    elements = f"{after['elements'] / 1e9:.2f} billion elements, {len(after['parameters'])} parameters"
    ledger.figure(name, f"{elements}, class {after['class'].rpartition('.')[2]}")
    ledger.compare_calls(found[0].called, found[1].called, name)


def _compute(one: Run, trees: Mapping[str, Path], setting: Setting, ledger: Ledger) -> None:
    if (found := both(trees, setting, ledger, run_call(one, setting))) is None:
        return
    ledger.count("runs")
    before, after = (outcome.data for outcome in found)
    for key in ("class", "backend", "finite"):
        ledger.same("runs", f"{one.name}: {key}", before[key], after[key])
    if not after["finite"]:
        ledger.find("runs", "", f"{one.name}: logits are not finite, so that equal ones say little")
    ledger.same("weights", one.name, before["parameters"], after["parameters"], count=len(after["parameters"]))
    for key, check in (("outputs", "outputs"), ("cache", "caches"), ("steps", "logits"), ("experts", "routed experts")):
        # The first place where two sequences differ: what follows depends on it.
        ledger.same(check, one.name, before[key], after[key], most=1, count=len(after[key]))
    ledger.compare_calls(found[0].called, found[1].called, one.name)
