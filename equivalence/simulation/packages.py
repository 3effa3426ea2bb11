"""Packages that need a GPU or its compiler, which are stubs here, and the versions that they say: what upstream declares."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterable

from equivalence.simulation.settings import current

PACKAGES = frozenset(
    (
        "sgl_kernel",
        "flashinfer",
        "deep_gemm",
        "cutlass",
        "flash_attn",
        "quack",
        "tilelang",
        "tokenspeed_mla",
        "torchao",
        "torchvision",
        "torch_memory_saver",
        "cuda",
        "pynvml",
        "IPython",
        "compressed_tensors",
        "gguf",
        "soundfile",
        "datasets",
        "flash_mla",
        "cuda_tile",
        "triton",
    )
)
"""Top-level modules that are stubs where they are not installed. `datasets` needs no GPU, but weighs 300 MB.
Triton is installed where it has a wheel, on Linux."""

AT_IMPORT = frozenset(
    (
        "cutlass",
        "cuda",
        "quack",
        "tilelang",
        "triton_kernels",
        "flash_attn",
        "torchvision",
        "timm",
        "cuda_tile",
        "triton",
    )
)
"""Those that modules call while they are loaded."""

_DISTRIBUTIONS = {
    "sgl_kernel": ("sglang-kernel", "sgl-kernel"),
    "flashinfer": ("flashinfer-python", "flashinfer-cubin"),
    "deep_gemm": ("sgl-deep-gemm",),
    "cutlass": ("nvidia-cutlass-dsl",),
    "flash_attn": ("flash-attn-4", "flash-attn"),
    "quack": ("quack-kernels",),
}
"""Those of other names than their modules. Versions are asked for at start-up, to refuse one that is too old."""

_UNKNOWN = "9.9.9"
"""Version of a stub that upstream does not pin: newer than whatever may be asked for."""

_PIN = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*\])?\s*==\s*([\w.+!-]+)")


def declared_versions(requirements: Iterable[str]) -> dict[str, str]:
    """Exact pins among requirement strings, by normalised name."""
    found = (_PIN.match(text) for text in requirements)
    return {_normal(match[1]): match[2] for match in found if match}


def version_of(module: str) -> str:
    """Version of a stub module, as upstream declares it."""
    top = module.partition(".")[0]
    declared = current().versions
    return next((declared[n] for n in _DISTRIBUTIONS.get(top, (_normal(top),)) if n in declared), _UNKNOWN)


def install() -> None:
    """Let `importlib.metadata.version` answer for stubs that are not installed."""
    original = importlib.metadata.version
    modules = {name: top for top in PACKAGES for name in _DISTRIBUTIONS.get(top, (_normal(top),))}

    def version(distribution_name: str) -> str:
        name = _normal(distribution_name)
        try:
            return original(distribution_name)
        except importlib.metadata.PackageNotFoundError:
            if name in modules:
                return current().versions.get(name) or version_of(modules[name])
            raise

    importlib.metadata.version = version


def _normal(name: str) -> str:
    """A distribution's name in the form that all spellings of it share."""
    return re.sub(r"[-_.]+", "-", name).lower()
