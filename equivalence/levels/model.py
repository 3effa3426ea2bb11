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

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from equivalence.levels.both import both
from equivalence.levels.checkpoints import checkpoint
from equivalence.levels.configurations import ARCHITECTURE, CONFIGURATIONS, Configuration
from equivalence.levels.result import Ledger, LevelResult
from equivalence.levels.server import compare_calls
from equivalence.levels.setting import GENERATED, SIDES, UPSTREAM, Call, Setting, slug
from equivalence.simulation.checkpoints import Shape, config
from equivalence.simulation.environment import has_triton

_REQUIRED = ("configurations", "parameters", "modules", "checkpoint names")
_REQUIRED_RUNS = ("runs", "weights", "outputs", "caches", "logits", "routed experts", "kernels")
_META = ("--attention-backend", "triton", "--disable-cuda-graph", "--trust-remote-code")
_RUN = (
    *("--context-length", "256", "--max-total-tokens", "512", "--max-running-requests", "4", "--disable-radix-cache"),
    *("--sampling-backend", "pytorch", "--random-seed", "1", "--trust-remote-code"),
)
_VOCABULARY = 1024
_STEPS = 2


@dataclass(frozen=True, slots=True)
class Run:
    """A tiny checkpoint and how it is run."""

    name: str
    shape: Mapping[str, str | int] = field(default_factory=dict)
    attention: str = "triton"
    """Empty: what upstream takes for the model."""
    graphs: bool = False
    capability: tuple[int, int] = (9, 0)
    triton: bool = True
    """Whether it needs Triton."""
    chosen: tuple[str, ...] = ()
    """Options that upstream chooses by itself: where a profile refuses them, another one takes over."""

    @property
    def options(self) -> tuple[str, ...]:
        """Of the server."""
        graphs = ("--cuda-graph-bs", "1", "2") if self.graphs else ("--disable-cuda-graph",)
        attention = ("--attention-backend", self.attention) if self.attention else ()
        return (*_RUN, *attention, *graphs)

    @property
    def asks(self) -> tuple[str, ...]:
        """The options, and the architecture: what a profile may refuse."""
        shape = Shape(**self.shape)  # type: ignore[arg-type]
        return (*self.options, *self.chosen, ARCHITECTURE, config(shape)["architectures"][0])


RUNS = (
    Run("one dense layer", {"dense": 1, "moe": 0}),
    Run("one MoE layer", {"dense": 0, "moe": 1}),
    Run("dense and MoE layer"),
    Run("dense and MoE layer, FP8", {"fp8": 1}),
    Run("FlashAttention 3", attention="fa3"),
    Run("replayed CUDA graphs", graphs=True),
    Run("V2", {"family": "v2"}),
    Run("V2-Lite", {"family": "v2-lite"}),
    # Fewer keys than the prompt has: what is chosen counts.
    Run(
        "V3.2",
        {"family": "v32", "keys": 8},
        attention="",
        chosen=("--dsa-prefill-backend", "flashmla_sparse", "--dsa-decode-backend", "fa3"),
    ),
    Run("Blackwell", capability=(10, 0)),
)
"""What is computed."""


def run(
    upstream: Path,
    generated: Path,
    setting: Setting,
    *,
    configurations: Sequence[Configuration] = CONFIGURATIONS,
    runs: Sequence[Run] = RUNS,
    whole: bool = True,
) -> LevelResult:
    """Compare what models are made of in both trees, and what they compute.

    Args:
        upstream, generated: folders that hold the package `sglang`.
        setting: with what to run.
        configurations: built on the meta device.
        runs: computed.
        whole: False for a piece of the level, in which a check may look at nothing.
    """
    start = time.monotonic()
    trees = {UPSTREAM: upstream, GENERATED: generated}
    ledger = Ledger("model")
    for configuration in configurations:
        if refused := setting.expected.refuses(configuration.asks):
            ledger.limit(f"{configuration.name}: the profile refuses {refused}.")
        else:
            _build(configuration, trees, setting, ledger)
    required: tuple[str, ...] = _REQUIRED if configurations else ()
    if not has_triton(setting.simulation):
        ledger.limit("Triton has no wheel for this system: nothing was computed, only built. Run this level on Linux.")
    else:
        for one in runs:
            if refused := setting.expected.refuses(one.asks):
                ledger.limit(f"{one.name}: the profile refuses {refused}.")
            else:
                _compute(one, trees, setting, ledger)
        required += _REQUIRED_RUNS if runs else ()
    return ledger.result(time.monotonic() - start, required if whole else ())


def meta_call(configuration: Configuration, setting: Setting) -> Call:
    """The program that builds a configuration."""
    name = slug(configuration.name)
    arguments = {
        "model": str(configuration.write(setting.work / "configurations" / name)),
        "options": [*_META, *configuration.options],
        "draft": configuration.draft,
        "load": configuration.load,
    }
    return Call(
        "meta", dict.fromkeys(SIDES, arguments), 300, f"meta-{name}", configuration.capability, f"{configuration}"
    )


def run_call(one: Run, setting: Setting) -> Call:
    """The program that computes a run."""
    shape: dict[str, str | int] = {"dense": 1, "moe": 1, "mtp": 0, "vocabulary": _VOCABULARY, **one.shape}
    arguments = {
        "model": str(checkpoint(setting, **shape)),
        "options": list(one.options),
        "vocabulary": _VOCABULARY,
        "steps": _STEPS,
    }
    return Call("forward", dict.fromkeys(SIDES, arguments), 300, f"run-{slug(one.name)}", one.capability, f"{one}")


def _build(configuration: Configuration, trees: Mapping[str, Path], setting: Setting, ledger: Ledger) -> None:
    found = both(trees, setting, ledger, meta_call(configuration, setting))
    if found is None:
        return
    ledger.count("configurations")
    before, after = (found[side].data for side in SIDES)
    _same(
        "configurations", configuration.name, ("class", "quantization", "arguments", "elements"), before, after, ledger
    )
    for key in ("parameters", "buffers", "modules"):
        ledger.count(key, len(after[key]))
        _rows(configuration.name, key, before[key], after[key], ledger)
    if configuration.load:
        ledger.count("checkpoint names", after["loaded"]["names"])
        if before["loaded"] != after["loaded"]:
            message = f"{configuration.name}: {_short(after['loaded'])}, in upstream {_short(before['loaded'])}"
            ledger.find("checkpoint names", "", message)
    elements = f"{after['elements'] / 1e9:.2f} billion elements, {len(after['parameters'])} parameters"
    ledger.figure(configuration.name, f"{elements}, class {after['class'].rpartition('.')[2]}")
    compare_calls(found[UPSTREAM].called, found[GENERATED].called, ledger, configuration.name)


def _same(
    check: str, where: str, keys: Sequence[str], before: Mapping[str, Any], after: Mapping[str, Any], ledger: Ledger
) -> None:
    for key in keys:
        if before[key] != after[key]:
            ledger.find(check, "", f"{where}: {key} is {after[key]}, in upstream {before[key]}")


def _rows(where: str, what: str, before: Mapping[str, Any], after: Mapping[str, Any], ledger: Ledger) -> None:
    different = [name for name in dict.fromkeys([*before, *after]) if before.get(name) != after.get(name)]
    for name in different[:5]:
        message = f"{where}: {name} is {_short(after.get(name))}, in upstream {_short(before.get(name))}"
        ledger.find(what, "", message)
    if len(different) > 5:
        ledger.find(what, "", f"{where}: and {len(different) - 5} more")


def _short(value: Any) -> str:
    text = "not there" if value is None else str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _compute(one: Run, trees: Mapping[str, Path], setting: Setting, ledger: Ledger) -> None:
    found = both(trees, setting, ledger, run_call(one, setting))
    if found is None:
        return
    ledger.count("runs")
    before, after = (found[side].data for side in SIDES)
    _same("runs", one.name, ("class", "backend", "finite"), before, after, ledger)
    if not after["finite"]:
        ledger.find("runs", "", f"{one.name}: logits are not finite, so that equal ones say little")
    ledger.count("weights", len(after["parameters"]))
    _rows(one.name, "weights", before["parameters"], after["parameters"], ledger)
    for key, check in (("outputs", "outputs"), ("cache", "caches"), ("steps", "logits"), ("experts", "routed experts")):
        ledger.count(check, len(after[key]))
        _first(one.name, check, before[key], after[key], ledger)
    compare_calls(found[UPSTREAM].called, found[GENERATED].called, ledger, one.name)


def _first(where: str, check: str, before: Sequence[Any], after: Sequence[Any], ledger: Ledger) -> None:
    """The first place where two sequences differ: what follows depends on it."""
    for index, (left, right) in enumerate(zip(before, after, strict=False)):
        if left != right:
            ledger.find(check, "", f"{where}: number {index} is {_short(right)}, in upstream {_short(left)}")
            return
    if len(before) != len(after):
        ledger.find(check, "", f"{where}: there are {len(after)}, in upstream {len(before)}")
