"""Kernels that upstream builds from C++ at run time: their sources must be there, references take their place."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from equivalence.simulation import calls
from equivalence.simulation.kernels import load
from equivalence.simulation.kernels.registry import REFERENCES, counted
from equivalence.simulation.packages import StubModule

_EXPORT = re.compile(r"TVM_FFI_DLL_EXPORT_TYPED_FUNC\((\w+),")
_INCLUDE = re.compile(r'#include "([^"]+)"')
_PREFIX = "sgl_kernel_jit_"
_HASH = re.compile(r"_[0-9a-f]{16}$")
"""Of all sources of kernels: upstream puts it behind a module's name, and lines that went change it. What a source still defines is judged elsewhere."""


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
    groups = sorted((g for g in REFERENCES if g.startswith("jit:") and bare.startswith(g[4:])), key=len)
    known = {export: counted(reference) for group in groups for export, reference in REFERENCES[group].items()}
    exports = _EXPORT.findall(text)
    return JitModule(name, {x: known.get(x) or _missing(f"jit:{bare}.{x}", sources) for x in exports})


def _missing(name: str, sources: Sequence[str]) -> Callable[..., Any]:
    def missing(*args: Any, **kwargs: Any) -> Any:
        calls.record(calls.STUB, name)
        shapes = [(tuple(x.shape), str(x.dtype)) if hasattr(x, "shape") else x for x in args]
        raise calls.SimulationError(
            f"the kernel {name} was called with {shapes}, {kwargs}",
            f"write a reference of {', '.join(sources) or 'its source'} in equivalence/simulation/kernels",
        )

    return missing


def load_extension(name: str, sources: Sequence[str] | str, *args: Any, **kwargs: Any) -> ModuleType:
    """In place of `torch.utils.cpp_extension.load`: a module that raises when something of it is called.
    Raises FileNotFoundError where a source is not in the tree."""
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
