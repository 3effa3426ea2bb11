"""Kernels that upstream builds from C++ at run time: their sources must be there, references take their place."""

import inspect
import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from equivalence.simulation import calls
from equivalence.simulation.calls import SimulationError
from equivalence.simulation.kernels import load
from equivalence.simulation.kernels.registry import REFERENCES, Reference, counted
from equivalence.simulation.packages import StubModule

_EXPORT = re.compile(r"TVM_FFI_DLL_EXPORT_TYPED_FUNC\((\w+),\s*\(?(.*?)\)?\);", re.DOTALL)
_INCLUDE = re.compile(r'#include "([^"]+)"')
_PREFIX = "sgl_kernel_jit_"
_HASH = re.compile(r"_[0-9a-f]{16}$")
"""Of all sources of kernels: upstream puts it behind a module's name, and lines that went change it. What a source still defines is judged elsewhere."""


class JitModule:
    """What a build gives: one attribute an export."""

    def __init__(self, name: str, exports: dict[str, str], sources: dict[str, str]) -> None:
        self._name = name
        self._exports = exports
        self._sources = sources
        for export, target in exports.items():
            if (reference := self._find(export)) is not None:
                check_signature(reference, target, sources)

    def _find(self, export: str) -> Reference | None:
        load()
        bare = self._name.removeprefix(_PREFIX)
        groups = [g for g in REFERENCES if g.startswith("jit:") and bare.startswith(g[4:]) and export in REFERENCES[g]]
        # `activation` is the start of `activation_new`, too: the longest name is meant.
        return REFERENCES[max(groups, key=len)][export] if groups else None

    def __getattr__(self, export: str) -> Any:
        if export.startswith("__"):
            raise AttributeError(export)
        if export not in self._exports:
            raise AttributeError(f"{self._name} exports {', '.join(self._exports)}, not {export}")
        reference = self._find(export)
        if reference is not None:
            return counted(reference)
        name = f"jit:{self._name.removeprefix(_PREFIX)}.{export}"

        def missing(*args: Any, **kwargs: Any) -> Any:
            calls.record(calls.STUB, name)
            shapes = [(tuple(x.shape), str(x.dtype)) if hasattr(x, "shape") else x for x in args]
            raise SimulationError(
                f"the kernel {name} was called with {shapes}, {kwargs}",
                f"write a reference of {', '.join(self._sources) or 'its source'} in equivalence/simulation/kernels",
            )

        return missing


def load_inline(
    name: str, cpp_sources: Sequence[str] = (), cuda_sources: Sequence[str] = (), **options: Any
) -> JitModule:
    """In place of `tvm_ffi.cpp.load_inline`: a module whose exports are references.

    Raises:
        OSError: a source file that it includes is not in the tree.
        SimulationError: an export takes another number of arguments than its reference.
    """
    text = "\n".join([*_as_list(cpp_sources), *_as_list(cuda_sources)])
    calls.record(calls.LOADED, _HASH.sub("", name))
    sources = {path: Path(path).read_text("utf-8") for path in _INCLUDE.findall(text)}
    return JitModule(name, dict(_EXPORT.findall(text)), sources)


def load_extension(name: str, sources: Sequence[str] | str, *args: Any, **kwargs: Any) -> ModuleType:
    """In place of `torch.utils.cpp_extension.load`: a module that raises when something of it is called.

    Raises:
        FileNotFoundError: a source is not in the tree.
    """
    for source in _as_list(sources):
        if not Path(source).is_file():
            raise FileNotFoundError(f"source of the extension {name}: {source}")
    calls.record(calls.LOADED, f"extension {name}")
    return StubModule(name)


def _as_list(texts: Sequence[str] | str) -> Sequence[str]:
    return [texts] if isinstance(texts, str) else texts


def check_signature(reference: Reference, target: str, sources: dict[str, str]) -> None:
    """Compare the number of parameters in C++ with the reference's.

    Args:
        target: what is exported, ``Kernel<...>::run``.
        sources: text of the included files by path.

    Raises:
        SimulationError: they differ. A function that is not found in the text is not judged.
    """
    function = re.split(r"::(?![^<]*>)", target.strip())[-1].strip().rstrip(")")
    declared = re.compile(rf"\b(?:void|auto|int64_t|bool)\s+{re.escape(function)}\s*\(")
    parameters = [p for p in inspect.signature(reference.function).parameters.values() if p.kind is not p.VAR_KEYWORD]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return
    least, most = sum(p.default is p.empty for p in parameters), len(parameters)
    found = [
        (path, text.count("\n", 0, match.start()) + 1, _count_parameters(text, match.end()))
        for path, text in sources.items()
        for match in declared.finditer(text)
    ]
    # Overloads of the same name: one of them is enough.
    if found and not any(least <= count <= most for _, _, count in found):
        path, line, count = found[0]
        raise SimulationError(
            f"{path}:{line}: {function} takes {count} arguments, its reference at {reference.place} takes {most}",
            "upstream's signature moved: mend the reference",
        )


def _count_parameters(text: str, start: int) -> int:
    depth = commas = 0
    for found in re.finditer(r"[][(){}<>,]", text[start:]):
        if found[0] == ",":
            commas += depth == 0
        elif found[0] in "([{<":
            depth += 1
        elif depth == 0:
            return commas + bool(text[start : start + found.start()].strip())
        else:
            depth -= 1
    return commas
