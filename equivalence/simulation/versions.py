"""Versions of distributions that are not installed: what upstream declares."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterable

from equivalence.simulation.settings import current
from equivalence.simulation.stubs import PACKAGES

DISTRIBUTIONS = {
    "sgl_kernel": ("sglang-kernel", "sgl-kernel"),
    "flashinfer": ("flashinfer-python", "flashinfer-cubin"),
    "deep_gemm": ("sgl-deep-gemm",),
    "cutlass": ("nvidia-cutlass-dsl",),
    "flash_attn": ("flash-attn-4", "flash-attn"),
    "torchao": ("torchao",),
    "torchvision": ("torchvision",),
    "compressed_tensors": ("compressed-tensors",),
    "quack": ("quack-kernels",),
    "tilelang": ("tilelang",),
    "IPython": ("ipython",),
}
"""Distributions whose modules are stubs. Their versions are asked for at start-up, to refuse one that is too old."""

UNKNOWN = "9.9.9"
"""Version of a stub that upstream does not pin: newer than whatever may be asked for."""

_PIN = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*\])?\s*==\s*([\w.+!-]+)")


def normal(name: str) -> str:
    """A distribution's name in the form that all spellings of it share."""
    return re.sub(r"[-_.]+", "-", name).lower()


def declared_versions(requirements: Iterable[str]) -> dict[str, str]:
    """Exact pins among requirement strings, by normalised name."""
    found = (_PIN.match(text) for text in requirements)
    return {normal(match[1]): match[2] for match in found if match}


def version_of(module: str) -> str:
    """Version of a stub module, as upstream declares it."""
    declared = current().versions
    for name in DISTRIBUTIONS.get(module.partition(".")[0], ()):
        if name in declared:
            return declared[name]
    return UNKNOWN


def install() -> None:
    """Let `importlib.metadata.version` answer for stubs that are not installed."""
    original = importlib.metadata.version
    stubbed = {normal(name) for names in DISTRIBUTIONS.values() for name in names} | {normal(p) for p in PACKAGES}
    modules = {normal(name): module for module, names in DISTRIBUTIONS.items() for name in names}

    def version(distribution_name: str) -> str:
        name = normal(distribution_name)
        try:
            return original(distribution_name)
        except importlib.metadata.PackageNotFoundError:
            if name in stubbed:
                return current().versions.get(name) or version_of(modules.get(name, name))
            raise

    importlib.metadata.version = version
