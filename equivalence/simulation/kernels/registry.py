"""Which function stands for which kernel: registered by the subjects, noted when called, put where
upstream looks for it.

That is a module of a stub package, or what upstream builds from C++ at run time: its sources must
be there.
"""

import importlib
import inspect
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from equivalence.simulation import calls, graphs
from equivalence.simulation.packages import StubModule

Tensor = Any
"""torch.Tensor; torch is not installed where the types are checked."""

_SUBJECTS = ("attention", "elementwise", "gemm", "moe", "sparse", "speculative", "support")
_EXPORT = re.compile(r"TVM_FFI_DLL_EXPORT_TYPED_FUNC\((\w+),")
_INCLUDE = re.compile(r'#include "([^"]+)"')
_PREFIX = "sgl_kernel_jit_"
_HASH = re.compile(r"_[0-9a-f]{16}$")
"""Of all sources of kernels: upstream puts it behind a module's name, and lines that went change
it. What a source still defines is judged elsewhere.
"""
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Reference:
    """A function that computes what a kernel computes."""

    name: str
    """``package.module.function``, or ``jit:PREFIX.EXPORT`` for a kernel that upstream builds
    itself.
    """
    source: str
    """Where the kernel is."""
    function: Callable[..., Any]
    says: str = ""
    """A word that the kernel's source has in the releases whose kernel this is; empty: in all
    others.
    """


REFERENCES: dict[str, dict[str, Reference]] = {}
"""By module, or ``jit:PREFIX``, then by function or export, with the word that it says behind a
colon where there is one.
"""


def kernel(module: str, *names: str, source: str, says: str = "") -> Callable[[Function], Function]:
    """Register a reference of a package's function, under each of the names (default: its own)."""

    def register(function: Function) -> Function:
        for name in names or (function.__name__,):
            key = f"{name}:{says}" if says else name
            REFERENCES.setdefault(module, {})[key] = Reference(
                f"{module}.{name}", source, function, says
            )
        return function

    return register


def jit(prefix: str, *exports: str, source: str, says: str = "") -> Callable[[Function], Function]:
    """Register a reference of an export of the JIT modules whose name starts with `prefix`.

    Releases that give one export other parameters have a reference each: `says` is a word that the
    kernel's source has in those whose parameters these are, for example "reserved_skip_index".
    """
    return kernel(
        f"jit:{prefix}",
        *exports,
        source=f"csrc/{source}, of the kernels that upstream builds",
        says=says,
    )


def counted(reference: Reference) -> Callable[..., Any]:
    """Return the reference as upstream calls it: noted, recorded in graphs, its signature checked.

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
            said = (
                f"upstream calls {name} otherwise than its reference at equivalence/{place} "
                f"expects ({error})"
            )
            raise calls.SimulationError(
                said, f"compare it with {reference.source} and mend the reference"
            ) from error
        return step(*args, **kwargs)

    return call


def given(result: Tensor, out: Tensor | None) -> Tensor:
    """Return a kernel's result; where the caller gave a tensor for it, in that one."""
    return result if out is None else out.copy_(result.view_as(out))


def load() -> None:
    """Import every subject, so that all references are registered."""
    for name in _SUBJECTS:
        importlib.import_module(f"{__package__}.{name}")


def _silence(module: ModuleType) -> None:
    """Give the module the logger that upstream silences."""
    module.__dict__.update(logger=logging.getLogger("flashinfer"))


_PREPARED: Mapping[str, Callable[[ModuleType], None]] = {
    "flashinfer.jit.core": _silence,
    "cuda.bindings.runtime": graphs.answer_of_captures,
}
"""Stub modules that are asked for what is no kernel."""


def fill(module: ModuleType) -> None:
    """Put the references of a stub module into it, and the modules below it that have some: `from
    cuda.bindings import runtime`.
    """
    load()
    for name, reference in REFERENCES.get(module.__name__, {}).items():
        setattr(module, name, counted(reference))
    if module.__name__ in _PREPARED:
        _PREPARED[module.__name__](module)
    for name in sorted({*REFERENCES, *_PREPARED}):
        package, _, last = name.rpartition(".")
        if package == module.__name__:
            setattr(module, last, importlib.import_module(name))


class JitModule:
    """What a build gives: one attribute an export."""

    def __init__(self, name: str, exports: Mapping[str, Callable[..., Any]]) -> None:
        vars(self).update(exports)
        self._said = f"{name} exports {', '.join(exports)}"

    def __getattr__(self, export: str) -> Any:
        raise AttributeError(f"{self._said}, not {export}")


def load_inline(
    name: str, cpp_sources: Sequence[str] = (), cuda_sources: Sequence[str] = (), **options: Any
) -> JitModule:
    """In place of `tvm_ffi.cpp.load_inline`: a module whose exports are references.
    Raises FileNotFoundError where a source file that it includes is not in the tree."""
    text = "\n".join([*_as_list(cpp_sources), *_as_list(cuda_sources)])
    calls.record(calls.LOADED, _HASH.sub("", name))
    sources, bare = _there(name, _INCLUDE.findall(text)), name.removeprefix(_PREFIX)
    load()
    # `activation` is the start of `activation_new`, too: the longest name is meant.
    groups = sorted(
        (g for g in REFERENCES if g.startswith("jit:") and bare.startswith(g[4:])), key=len
    )
    known = _meant(
        [reference for group in groups for reference in REFERENCES[group].values()], sources
    )
    exports = _EXPORT.findall(text)
    return JitModule(
        name, {x: known.get(x) or _missing(f"jit:{bare}.{x}", sources) for x in exports}
    )


def _meant(
    references: Sequence[Reference], sources: Sequence[str]
) -> dict[str, Callable[..., Any]]:
    """Choose of each export the reference whose word the sources have, else the one without
    a word.
    """
    text = "".join(Path(source).read_text("utf-8") for source in sources)
    # Stable: of two without a word the later one is of the longer name.
    chosen = sorted((one for one in references if one.says in text), key=lambda one: bool(one.says))
    return {one.name.rpartition(".")[2]: counted(one) for one in chosen}


def load_built(path: str, *args: Any, **kwargs: Any) -> Any:
    """In place of `tvm_ffi.load_module`: what `bin/ninja` built is the text of all its sources, and
    is loaded as they are inline.

    For example, `…/sgl_kernel_jit_activation_bf16.so`, whose text has `#include "…/activation.cuh"`
    and exports `run_activation`.
    """
    library = Path(path)
    return load_inline(library.stem, cuda_sources=[library.read_text("utf-8")])


def _missing(name: str, sources: Sequence[str]) -> Callable[..., Any]:
    def missing(*args: Any, **kwargs: Any) -> Any:
        calls.record(calls.STUB, name)
        shapes = [(tuple(x.shape), str(x.dtype)) if hasattr(x, "shape") else x for x in args]
        raise calls.SimulationError(
            f"the kernel {name} was called with {shapes}, {kwargs}",
            (
                f"write a reference of {', '.join(sources) or 'its source'} in "
                "equivalence/simulation/kernels"
            ),
        )

    return missing


def load_extension(
    name: str, sources: Sequence[str] | str, *args: Any, **kwargs: Any
) -> ModuleType:
    """In place of `torch.utils.cpp_extension.load`: a module that raises when something of it is
    called. Raises FileNotFoundError where a source is not in the tree.
    """
    _there(name, _as_list(sources))
    calls.record(calls.LOADED, f"extension {name}")
    return StubModule(name)


def _there(name: str, sources: Sequence[str]) -> Sequence[str]:
    for source in sources:
        if not Path(source).is_file():
            raise FileNotFoundError(f"source of {name}: {source}")
    return sources


def _as_list(texts: Sequence[str] | str) -> Sequence[str]:
    return [texts] if isinstance(texts, str) else texts
