"""Tensors that are asked for on a GPU are made on the CPU.

A `TorchFunctionMode` would be off inside the Python body of every custom operator, so the functions themselves are
wrapped: factories, `Tensor.to`, `Module.to`, `torch.device` as a context, `torch.load`, generators.
"""

import functools
from typing import Any

import torch
from torch.utils import _device

_LIKE = ("empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like")
_OTHERS = ("as_tensor", "asarray", "normal")
_NEW = ("new_empty", "new_zeros", "new_full", "new_ones", "new_tensor", "new_empty_strided")


def install() -> None:
    """Wrap what takes a device."""
    _wrap_factories()
    _wrap_methods()
    _wrap_others()
    _wrap_products()

    torch.compile = lambda model=None, *args, **kwargs: (lambda function: function) if model is None else model


def remap(device: Any) -> Any:
    """The device on which what is asked for on this one is made."""
    if isinstance(device, str):
        return "cpu" if device.startswith("cuda") else device
    gpu = device.type == "cuda" if isinstance(device, torch.device) else type(device) is int
    return torch.device("cpu") if gpu else device


def _wrap_factories() -> None:
    # `with torch.device(...)` compares with the original functions, and has to know them first.
    names = {function.__name__ for function in _device._device_constructors()} | {*_LIKE, *_OTHERS}
    for name in names:
        if hasattr(torch, name) and not isinstance(getattr(torch, name), type):
            setattr(torch, name, _on_cpu(getattr(torch, name)))
    for name in _NEW:
        setattr(torch.Tensor, name, _on_cpu(getattr(torch.Tensor, name)))

    enter = _device.DeviceContext.__init__
    _device.DeviceContext.__init__ = lambda self, device: enter(self, remap(device))


def _on_cpu(function: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("device") is not None:
            kwargs["device"] = remap(kwargs["device"])
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        return function(*args, **kwargs)

    return call


def _wrap_methods() -> None:
    tensor = torch.Tensor
    original, parse = tensor.to, torch._C._nn._parse_to

    def to(self: Any, *args: Any, **kwargs: Any) -> Any:
        # A number can only be a device here: dtypes and tensors are objects of their own.
        args = tuple(remap(x) if isinstance(x, (str, torch.device)) or type(x) is int else x for x in args)
        if kwargs.get("device") is not None:
            kwargs["device"] = remap(kwargs["device"])
        return original(self, *args, **kwargs)

    def parse_to(*args: Any, **kwargs: Any) -> Any:
        args = tuple(remap(x) if isinstance(x, (str, torch.device)) else x for x in args)
        if "device" in kwargs:
            kwargs["device"] = remap(kwargs["device"])
        return parse(*args, **kwargs)

    tensor.to = to
    torch._C._nn._parse_to = parse_to
    # Dispatch in Python looks here, not at the device.
    tensor.is_cuda = property(lambda self: not self.is_meta)
    # A tensor on a GPU says on which one, and upstream asks that of FP8 ones. Of others it asks which are on the CPU, too.
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
    load, generator = torch.load, torch.Generator

    def loaded(*args: Any, **kwargs: Any) -> Any:
        if "map_location" in kwargs:
            kwargs["map_location"] = remap(kwargs["map_location"])
        return load(*args, **kwargs)

    class Generator(generator):  # type: ignore[misc,valid-type]
        def __new__(cls, device: Any = "cpu") -> Any:
            return generator.__new__(cls, device=remap(device))

    torch.load, torch.Generator = loaded, Generator


def _wrap_products() -> None:
    def wide(function: Any) -> Any:
        @functools.wraps(function)
        def call(*args: Any, out_dtype: Any = None, **kwargs: Any) -> Any:
            # The CPU has no `out_dtype`; computing in the wider type is what it means.
            if out_dtype is not None:
                args = tuple(x.to(out_dtype) for x in args)
            return function(*args, **kwargs)

        return call

    torch.mm, torch.bmm = wide(torch.mm), wide(torch.bmm)
