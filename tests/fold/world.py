"""Run a small tree in a world where the facts of tests/programs/rules.toml hold, and write down
what it does.

There is a CUDA build of PyTorch without any other device module, the libraries of other platforms
are not installed, the switches are off, and a device is never one of the texts that the domain
excludes.
"""

import importlib
import importlib.abc
import importlib.machinery
import os
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest import mock

_OWN = ("sglang", "torch", "probes")
_ABSENT = ("aiter", "torch_npu")
_INSTALLED = {
    "torch.py": """from types import SimpleNamespace
from probes import Device as device
version = SimpleNamespace(hip=None, cuda="13.0")
cuda = SimpleNamespace(is_available=lambda: True, device_count=lambda: 1)
""",
    "probes.py": Path(__file__).with_name("probes.py").read_text("utf-8"),
}
_ENTRY = re.compile(r"f\d*")
"""Functions that are called."""
_WORLDS: tuple[dict[str, str], ...] = ({}, {"SGLANG_USE_AITER": "0", "SGLANG_OPEN": "1"})
"""The environments of the runs: switches unset, and set to a text that means no."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one call, or the import of the tree, did."""

    marks: tuple[object, ...]
    """What the probes saw, in order."""
    result: str
    """The value returned, or the class and text of the exception."""
    error: type[BaseException] | None = None


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the tree from memory, and nothing that is not installed."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._sources: dict[str, tuple[str, str, bool]] = {}
        for path, text in files.items():
            name = path.removeprefix("python/").removesuffix(".py").replace("/", ".")
            self._sources[name.removesuffix(".__init__")] = (path, text, name.endswith(".__init__"))

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if found := self._sources.get(fullname):
            return importlib.machinery.ModuleSpec(
                fullname, self, origin=found[0], is_package=found[2]
            )
        if fullname.partition(".")[0] in (*_OWN, *_ABSENT):
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        path, text, _ = self._sources[module.__name__]
        exec(_compiled(text.removeprefix("\ufeff"), path), module.__dict__)


@lru_cache(maxsize=64)
def _compiled(text: str, path: str) -> types.CodeType:
    # Every world imports the same files, and most of them are the same in every program.
    return compile(text, path, "exec", dont_inherit=True)


@contextmanager
def _installed(files: Mapping[str, str], environment: Mapping[str, str]) -> Iterator[Any]:
    """A world with the tree, as its probes."""
    others = {
        name: module
        for name, module in sys.modules.items()
        if name.partition(".")[0] not in (*_OWN, *_ABSENT)
    }
    variables = {name: value for name, value in os.environ.items() if name not in _WORLDS[1]}
    with (
        mock.patch.dict(os.environ, {**variables, **environment}, clear=True),
        mock.patch.dict(sys.modules, others, clear=True),
        mock.patch.object(sys, "meta_path", [_Finder({**files, **_INSTALLED}), *sys.meta_path]),
    ):
        yield importlib.import_module("probes")


def _outcome(probes: Any, call: Callable[..., object], *row: object) -> Outcome:
    try:
        result = probes.shown(call(*row))
    except Exception as error:
        return Outcome(probes.take(), f"{type(error).__name__}: {error}", type(error))
    return Outcome(probes.take(), result)


def _arguments(thing: Callable[[str, bool], object]) -> Iterator[tuple[object, ...]]:
    """What `f(a, b, device, thing)` is called with: open values of several types, devices that are
    there.
    """
    yield from ((a, b, "cuda", thing("cuda", bool(b))) for a in (0, 1, None, "s") for b in (0, 1))
    yield from ((a, 1, "cpu", thing("cpu", bool(a))) for a in (0, 2))


def trace(files: Mapping[str, str]) -> list[Outcome]:
    """Import the tree and call `f`, or `f0`, `f1` and so on, of `sglang.main` with every row of
    arguments, in every world.
    """
    found: list[Outcome] = []
    for world in _WORLDS:
        with _installed(files, world) as probes:
            found.append(_outcome(probes, importlib.import_module, "sglang.main"))
            if found[-1].error is not None:
                continue
            rows = [*_arguments(probes.Thing)]
            for name, function in vars(sys.modules["sglang.main"]).items():
                for row in rows if _ENTRY.fullmatch(name) else ():
                    found.append(_outcome(probes, function, *row))
    return found


def difference(before: Sequence[Outcome], after: Sequence[Outcome]) -> str | None:
    """Where two traces differ, in words; None when they are the same.

    Two deviations are part of the contract. A run in which upstream reads a name that no branch of
    the closed world binds fails in upstream too: after folding it may fail earlier, with the named
    error. And the text of an error that stands for something not installed is shrinker's; its class
    is upstream's.
    """
    if len(before) != len(after):
        return f"{len(before)} outcomes became {len(after)}: {before[-1]} / {after[-1]}"
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if old == new:
            continue
        if old.error is not None and issubclass(old.error, NameError):
            continue
        if old.error is RecursionError and new.error is RecursionError:
            # How deep it came depends on how many calls a condition is.
            continue
        if new.error is not None and old.error is not None and "shrinker: " in new.result:
            same = new.marks == old.marks and issubclass(old.error, new.error)
            if same:
                continue
        return f"run {number}: {old} became {new}"
    return None
