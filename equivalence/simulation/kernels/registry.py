"""Which function stands for which kernel, and how a call of it is noted."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from equivalence.simulation import calls, graphs

Tensor = Any
"""torch.Tensor; torch is not installed where the types are checked."""

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Reference:
    """A function that computes what a kernel computes."""

    name: str
    """``package.module.function``, or ``jit:PREFIX.EXPORT`` for a kernel that upstream builds itself."""
    source: str
    """Where the kernel is."""
    function: Callable[..., Any]


REFERENCES: dict[str, dict[str, Reference]] = {}
"""By module, or ``jit:PREFIX``, then by function or export."""


def kernel(module: str, *names: str, source: str) -> Callable[[Function], Function]:
    """Register a reference of a package's function, under each of the names (default: its own)."""

    def register(function: Function) -> Function:
        for name in names or (function.__name__,):
            REFERENCES.setdefault(module, {})[name] = Reference(f"{module}.{name}", source, function)
        return function

    return register


def jit(prefix: str, *exports: str, source: str) -> Callable[[Function], Function]:
    """Register a reference of an export of the JIT modules whose name starts with `prefix`."""
    return kernel(f"jit:{prefix}", *exports, source=f"python/sglang/jit_kernel/csrc/{source}")


def counted(reference: Reference) -> Callable[..., Any]:
    """The reference as upstream calls it: noted, recorded in graphs, its signature checked.

    The call raises SimulationError where upstream passes what the reference does not take.
    """
    step = graphs.atom(reference.function, in_place=False)
    signature, name = inspect.signature(reference.function), reference.name

    def call(*args: Any, **kwargs: Any) -> Any:
        calls.record(calls.KERNEL, name)
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            calls.record(calls.STUB, f"{name}: {error}")
            code = reference.function.__code__
            place = f"{code.co_filename.partition('equivalence/')[2]}:{code.co_firstlineno}"
            said = f"upstream calls {name} otherwise than its reference at equivalence/{place} expects ({error})"
            raise calls.SimulationError(said, f"compare it with {reference.source} and mend the reference") from error
        return step(*args, **kwargs)

    return call


def given(result: Tensor, out: Tensor | None) -> Tensor:
    """A kernel's result; where the caller gave a tensor for it, in that one."""
    return result if out is None else out.copy_(result.view_as(out))
