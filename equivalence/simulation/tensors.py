"""Tensors that are asked for on a GPU are made on the CPU.

A `TorchFunctionMode` would be off inside the Python body of every custom operator, so the functions
themselves are
wrapped: factories, `Tensor.to`, `Module.to`, `torch.device` as a context, `torch.load`, generators.
"""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch.utils import _device

_LIKE = (
    "empty_like",
    "zeros_like",
    "ones_like",
    "full_like",
    "rand_like",
    "randn_like",
    "randint_like",
)
_OTHERS = ("as_tensor", "asarray", "normal")
_NEW = ("new_empty", "new_zeros", "new_full", "new_ones", "new_tensor", "new_empty_strided")
_ASKS = "apply_vocab_mask"
"""Functions and methods of this name ask a tensor where it is."""


def install() -> None:
    """Wrap what takes a device."""
    _wrap_factories()
    _wrap_methods()
    _wrap_others()
    torch.compile = lambda model=None, *args, **kwargs: (
        (lambda function: function) if model is None else model
    )


def remap(device: Any) -> Any:
    """Return the device on which what is asked for on this one is made; what is no device
    as it is.
    """
    if isinstance(device, str):
        return "cpu" if device.startswith("cuda") else device
    gpu = device.type == "cuda" if isinstance(device, torch.device) else type(device) is int
    return torch.device("cpu") if gpu else device


def _wrap_factories() -> None:
    # `with torch.device(...)` compares with the original functions, and has to know them first.
    names = {function.__name__ for function in _device._device_constructors()} | {*_LIKE, *_OTHERS}
    for name in names:
        if hasattr(torch, name) and not isinstance(getattr(torch, name), type):
            setattr(torch, name, on_cpu(getattr(torch, name)))
    for name in _NEW:
        setattr(torch.Tensor, name, on_cpu(getattr(torch.Tensor, name)))

    enter = _device.DeviceContext.__init__
    _device.DeviceContext.__init__ = lambda self, device: enter(self, remap(device))


def on_cpu(function: Any, place: str = "device") -> Any:
    """Give a function the CPU where its keyword argument `place` names a GPU."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get(place) is not None:
            kwargs[place] = remap(kwargs[place])
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        return function(*args, **kwargs)

    return call


def _wrap_methods() -> None:
    tensor = torch.Tensor
    to, parse_to = on_cpu(tensor.to), on_cpu(torch._C._nn._parse_to)
    # A number can only be a device here: dtypes and tensors are objects of their own.
    tensor.to = lambda self, *args, **kwargs: to(self, *map(remap, args), **kwargs)
    torch._C._nn._parse_to = lambda *args, **kwargs: parse_to(*map(remap, args), **kwargs)
    # Dispatch in Python looks here, not at the device.
    tensor.is_cuda = property(lambda self: not self.is_meta)
    # A tensor on a GPU says on which one, and upstream asks that of FP8 ones. Of others it asks
    # which are on the CPU, too.
    eights = (torch.float8_e4m3fn, torch.float8_e5m2)
    place, numbered = tensor.device, torch.device("cpu", 0)
    tensor.device = property(
        lambda self: numbered if self.dtype in eights and not self.is_meta else place.__get__(self)
    )
    tensor.cuda = lambda self, *args, **kwargs: self
    tensor.pin_memory = lambda self, *args, **kwargs: self
    tensor.is_pinned = lambda self, *args, **kwargs: False
    tensor.record_stream = lambda self, stream: None
    torch.nn.Module.cuda = lambda self, *args, **kwargs: self


def _wrap_others() -> None:
    generator = torch.Generator

    class Generator(generator):  # type: ignore[misc,valid-type]
        def __new__(cls, device: Any = "cpu") -> Any:
            return generator.__new__(cls, device=remap(device))

    def wide(function: Any) -> Any:
        @functools.wraps(function)
        def call(*args: Any, out_dtype: Any = None, **kwargs: Any) -> Any:
            # The CPU has no `out_dtype`; computing in the wider type is what it means.
            return function(
                *(args if out_dtype is None else (x.to(out_dtype) for x in args)), **kwargs
            )

        return call

    torch.load, torch.Generator = on_cpu(torch.load, "map_location"), Generator
    torch.mm, torch.bmm = wide(torch.mm), wide(torch.bmm)


class _OnDevice(torch.Tensor):  # type: ignore[misc]
    """Says that it is on the GPU, and shares its memory with the original."""

    @property
    def device(self) -> Any:
        return torch.device("cuda", 0)


def locate(module: ModuleType) -> None:
    """Hand tensors that say they are on the GPU to each function of the module that asks where they
    are, so that the tree's own branch for CUDA runs.
    """
    for owner in (module, *(v for v in vars(module).values() if isinstance(v, type))):
        value = vars(owner).get(_ASKS)
        if isinstance(value, staticmethod):
            setattr(owner, _ASKS, staticmethod(_located(value.__func__)))
        elif callable(value):
            setattr(owner, _ASKS, _located(value))


def _located(function: Callable[..., Any]) -> Callable[..., Any]:
    def on_device(value: Any) -> Any:
        return value.as_subclass(_OnDevice) if type(value) is torch.Tensor else value

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(
            *map(on_device, args), **{name: on_device(value) for name, value in kwargs.items()}
        )

    return call
