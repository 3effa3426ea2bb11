"""C++ extensions that modules build when they are imported: their sources must be there, nothing is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from equivalence.simulation import calls
from equivalence.simulation.stubs import StubModule


def install(module: ModuleType) -> None:
    """Replace `torch.utils.cpp_extension.load`."""
    module.load = load  # type: ignore[attr-defined]


def load(name: str, sources: Sequence[str] | str, *args: Any, **kwargs: Any) -> ModuleType:
    """A module that raises when something of it is called.

    Raises:
        FileNotFoundError: a source is not in the tree.
    """
    for source in [sources] if isinstance(sources, str) else sources:
        if not Path(source).is_file():
            raise FileNotFoundError(f"source of the extension {name}: {source}")
    calls.record(calls.LOADED, f"extension {name}")
    return StubModule(name)
