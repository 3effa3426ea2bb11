"""Functions that ask a tensor where it is, and would find it on the CPU.

Their tensor arguments are handed over as one that says it is on the GPU and shares its memory with the original, so
that the tree's own branch for CUDA runs.
"""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

ASKS = "apply_vocab_mask"


def hooks() -> dict[str, Callable[[ModuleType], None]]:
    """What is done after the import of each module that has a function or method of that name."""
    return {f"sglang.srt.constrained.{name}_backend": _wrap for name in ("xgrammar", "llguidance", "outlines")}


def _wrap(module: ModuleType) -> None:
    owners: list[Any] = [module, *(v for v in vars(module).values() if isinstance(v, type))]
    for owner in owners:
        value = vars(owner).get(ASKS)
        if isinstance(value, staticmethod):
            setattr(owner, ASKS, staticmethod(_located(value.__func__)))
        elif callable(value):
            setattr(owner, ASKS, _located(value))


def _located(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*map(_on_device, args), **{name: _on_device(value) for name, value in kwargs.items()})

    return call


def _on_device(value: Any) -> Any:
    import torch

    return value.as_subclass(_kind()) if type(value) is torch.Tensor else value


@functools.cache
def _kind() -> Any:
    import torch

    class OnDevice(torch.Tensor):  # type: ignore[misc]
        @property
        def device(self) -> Any:
            return torch.device("cuda", 0)

    return OnDevice
