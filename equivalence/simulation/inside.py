"""What `install` does in the simulated process, in its order, and the finder that it puts first: it
finds nothing itself.
"""

import gc
import importlib
import importlib.util
import os
import pickle
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from equivalence.simulation import calls, events, executed, packages

PACKAGE = "sglang"
"""The package of the trees that run."""
Hook = Callable[[ModuleType], None]
_GRAMMARS = [
    f"sglang.srt.constrained.{name}_backend" for name in ("xgrammar", "llguidance", "outlines")
]
"""Modules whose functions ask a tensor where it is."""


class AfterImport(MetaPathFinder):
    """Stands first among the finders; lets the others find a module and adds the hook to its
    loader.
    """

    def __init__(self, hooks: Mapping[str, Hook]) -> None:
        self._hooks = dict(hooks)
        self._searching: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: Any = None
    ) -> ModuleSpec | None:
        """The spec that another finder gives, with the hook behind its loader's work."""
        if fullname not in self._hooks or fullname in self._searching:
            return None
        self._searching.add(fullname)
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._searching.discard(fullname)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            # Not before: code may look for a module without importing it.
            if (hook := self._hooks.pop(fullname, None)) is not None:
                hook(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def install() -> None:
    """Put finders and variables in place, before torch is imported; what needs torch or Triton
    follows when these are.
    """
    # A fifth of the time of a server's imports goes into looking for garbage, of which they make
    # none.
    gc.set_threshold(100_000)
    executed.install()
    hooks: dict[str, Hook] = {
        "torch": _simulate_device,
        "transformers.utils.import_utils": _keep_structure,
        "torch.utils.cpp_extension": lambda module: setattr(
            module, "load", _own("kernels.registry").load_extension
        ),
        "triton": lambda _: _own("interpreter").install(),
        "tvm_ffi": lambda module: setattr(
            module, "load_module", _own("kernels.registry").load_built
        ),
        "tvm_ffi.cpp": lambda module: setattr(
            module, "load_inline", _own("kernels.registry").load_inline
        ),
        **dict.fromkeys(events.LOOPS, lambda _: events.install()),
        **dict.fromkeys(_GRAMMARS, lambda module: _own("tensors").locate(module)),
    }
    sys.meta_path[:] = [AfterImport(hooks), *sys.meta_path, packages.StubFinder(_fill)]
    packages.install()
    _watch_compiled_modules()


def _watch_compiled_modules() -> None:
    """Note each compiled module of the tree that is loaded, and let its functions and classes make
    what they make on the CPU.
    """
    execute = ExtensionFileLoader.exec_module

    def exec_module(self: ExtensionFileLoader, module: ModuleType) -> None:
        execute(self, module)
        if module.__name__.partition(".")[0] == PACKAGE:
            calls.record(calls.COMPILED, module.__name__)
            _move_to_host(module)

    ExtensionFileLoader.exec_module = exec_module  # type: ignore[method-assign]


def _move_to_host(module: ModuleType) -> None:
    """Wrap what takes a device: compiled code asks PyTorch for it where no function in Python
    stands between.
    """
    for name, value in list(vars(module).items()):
        signature = getattr(value, "__text_signature__", None) or ""
        if callable(value) and re.search(r"\bdevice\b", signature):
            setattr(module, name, _own("tensors").on_cpu(value))


def _fill(module: ModuleType) -> None:
    # First: what follows its import takes `graphs`, which the kernels would leave half made.
    importlib.import_module("torch")
    _own("kernels.registry").fill(module)


def _keep_structure(module: ModuleType) -> None:
    """Transformers reads 3,000 of its files for what they offer, in each process: kept beside byte
    code, where that is kept.
    """
    find = module.define_import_structure

    def kept(module_path: str, prefix: str | None = None) -> Any:
        place = Path(
            importlib.util.cache_from_source(f"{module_path}/{prefix}-{version('transformers')}.py")
        )
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            aside = place.with_suffix(f".{os.getpid()}")
            aside.write_bytes(pickle.dumps(find(module_path, prefix)))
            aside.replace(place)
        return pickle.loads(place.read_bytes())

    if sys.pycache_prefix:
        module.__dict__[find.__name__] = kept


def _simulate_device(_: ModuleType) -> None:
    for name in ("tensors", "device", "graphs"):
        _own(name).install()


def _own(name: str) -> Any:
    """A module of the simulation that needs torch or Triton: not imported before these are."""
    return importlib.import_module(f"equivalence.simulation.{name}")
