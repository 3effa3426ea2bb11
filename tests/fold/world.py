"""Run a small tree in a world where the facts of tests/programs/rules.toml hold, and write down what it does.

There is a CUDA build of PyTorch without any other device module, the libraries of other platforms are not installed,
the switches are off, and a device is never one of the texts that the domain excludes.
"""

import builtins
import importlib
import importlib.abc
import importlib.machinery
import itertools
import os
import re
import sys
import types
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

ABSENT = frozenset({"aiter", "torch_npu"})
SWITCH = "SGLANG_USE_AITER"
OPEN = "SGLANG_OPEN"
TICKS = 5
"""How often `tick` says yes: every generated loop ends."""

_ENTRY = re.compile(r"f\d*")
"""Functions that are called."""
_OWN = ("sglang", "torch", "probes")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one call, or the import of the tree, did."""

    marks: tuple[object, ...]
    """What the probes saw, in order."""
    result: str
    """The value returned, or the class and text of the exception."""
    error: type[BaseException] | None = None


class Device:
    """What `torch.device` is here: an object that stands for a text."""

    def __init__(self, text: str) -> None:
        self.type = text.partition(":")[0]
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Device({self._text!r})"


class Thing:
    """A tensor, a runner, a server's arguments: something with a device and with platform questions."""

    def __init__(self, device: str, *, is_cuda: bool, ready: bool) -> None:
        self.device = Device(device)
        self.is_cuda = is_cuda
        self.is_npu = False
        self.ready = ready
        self.kind = device

    def __repr__(self) -> str:
        return f"Thing({self.kind!r})"

    def __eq__(self, other: object) -> list[object]:  # type: ignore[override]
        """One answer an element, as a tensor gives."""
        return [self.kind, other]

    def __ne__(self, other: object) -> list[object]:  # type: ignore[override]
        return []

    __hash__ = object.__hash__

    def is_gone(self) -> bool:
        """Asks whether it is another platform's."""
        return False

    def is_auto(self) -> bool:
        """An answer without an effect."""
        return self.ready


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the tree from memory, and nothing that is not installed."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._sources: dict[str, tuple[str, str, bool]] = {}
        for path, text in files.items():
            name = path.removeprefix("python/").removesuffix(".py").replace("/", ".")
            package = name.endswith(".__init__")
            self._sources[name.removesuffix(".__init__")] = (path, text, package)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        found = self._sources.get(fullname)
        if found is None:
            if fullname.partition(".")[0] in _OWN:
                raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin=found[0], is_package=found[2])

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        path, text, _ = self._sources[module.__name__]
        exec(_compiled(text.removeprefix("\ufeff"), path), module.__dict__)


@lru_cache(maxsize=64)
def _compiled(text: str, path: str) -> types.CodeType:
    # Every world imports the same files, and most of them are the same in every program.
    return compile(text, path, "exec", dont_inherit=True)


def _torch() -> types.ModuleType:
    torch = types.ModuleType("torch")
    made: Any = torch
    made.version = types.SimpleNamespace(hip=None, cuda="13.0")
    made.cuda = types.SimpleNamespace(is_available=lambda: True, device_count=lambda: 1)
    made.device = Device
    return torch


def finish(task: Coroutine[Any, Any, object]) -> object:
    """What a coroutine returns that waits for nothing."""
    try:
        task.send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError("it waits")


class Probes:
    """The probes that programs import: each leaves a mark."""

    def __init__(self) -> None:
        self.marks: list[object] = []
        self.ticks = TICKS
        module: Any = types.ModuleType("probes")
        module.probe, module.tick, module.Scope, module.wrap = self.probe, self.tick, self.scope, self.wrap
        module.finish, module.Thing = finish, Thing
        self.module: types.ModuleType = module

    def probe(self, number: object = 0) -> bool:
        """Leave a mark; true unless the number is 0."""
        self.marks.append(number)
        return bool(number)

    def tick(self) -> bool:
        """True a few times, then false."""
        self.ticks -= 1
        return self.ticks >= 0

    @contextmanager
    def scope(self, number: object) -> Iterator[object]:
        """Leave a mark at both ends of a `with` block."""
        self.marks.append(("enter", number))
        try:
            yield number
        finally:
            self.marks.append(("leave", number))

    def wrap(self, *args: object, **options: object) -> Any:
        """A decorator that marks how it was asked for."""
        self.marks.append(("wrap", _show(args), _show(sorted(options.items()))))
        return lambda function: function

    def take(self) -> tuple[object, ...]:
        """The marks since the last time; the clock starts again."""
        marks, self.marks, self.ticks = tuple(self.marks), [], TICKS
        return marks


def _show(value: object) -> str:
    if isinstance(value, tuple | list | set | frozenset):
        items = [_show(v) for v in value]
        return f"{type(value).__name__}({sorted(items) if isinstance(value, set | frozenset) else items})"
    if isinstance(value, dict):
        return f"dict({[(_show(k), _show(v)) for k, v in value.items()]})"
    if isinstance(value, type | types.FunctionType | types.ModuleType):
        return f"<{value.__name__}>"
    if isinstance(value, Mapping | str | int | float | bool | None | Device | Thing):
        return repr(value)
    return f"<{type(value).__name__}>"


@contextmanager
def _installed(files: Mapping[str, str], probes: Probes, environment: Mapping[str, str]) -> Iterator[None]:
    def ours() -> list[str]:
        return [name for name in sys.modules if name.partition(".")[0] in (*_OWN, *ABSENT)]

    saved = {name: sys.modules.pop(name) for name in ours()}
    variables = {name: os.environ.pop(name, None) for name in (SWITCH, OPEN)}
    finder = _Finder(files)
    sys.meta_path.insert(0, finder)
    sys.modules["probes"] = probes.module
    sys.modules["torch"] = _torch()
    os.environ.update(environment)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in ours():
            del sys.modules[name]
        sys.modules.update(saved)
        for name, value in variables.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _outcome(probes: Probes, call: Any) -> Outcome:
    try:
        result = _show(call())
    except Exception as error:
        return Outcome(probes.take(), f"{type(error).__name__}: {error}", type(error))
    return Outcome(probes.take(), result)


ARGUMENTS = tuple(
    itertools.chain(
        ((a, b, "cuda", Thing("cuda", is_cuda=True, ready=bool(b))) for a in (0, 1, None, "s") for b in (0, 1)),
        ((a, 1, "cpu", Thing("cpu", is_cuda=False, ready=bool(a))) for a in (0, 2)),
    )
)
"""What `f(a, b, device, thing)` is called with: open values of several types, devices that are there."""

WORLDS: tuple[dict[str, str], ...] = ({}, {SWITCH: "0", OPEN: "1"})
"""The environments of the runs: switches unset, and set to a text that means no."""


def trace(
    files: Mapping[str, str],
    *,
    module: str = "sglang.main",
    arguments: Sequence[tuple[Any, ...]] = ARGUMENTS,
    worlds: Sequence[Mapping[str, str]] = WORLDS,
) -> list[Outcome]:
    """Import the tree and call `f`, or `f0`, `f1` and so on, of a module with every row of arguments, in every world.

    Args:
        files: path in upstream's layout to text.
        module: the module that has them; without one only the import counts.
        arguments: rows of positional arguments.
        worlds: environment variables of each run.
    """
    found: list[Outcome] = []
    for world in worlds:
        probes = Probes()
        with _installed(files, probes, world):
            imported = _outcome(probes, lambda: importlib.import_module(module))
            found.append(imported)
            if imported.error is not None:
                continue
            for name, function in vars(sys.modules[module]).items():
                for row in arguments if _ENTRY.fullmatch(name) else ():
                    found.append(_outcome(probes, lambda function=function, row=row: function(*row)))
    return found


NAME_ERRORS = (NameError, builtins.UnboundLocalError)


def difference(before: Sequence[Outcome], after: Sequence[Outcome]) -> str | None:
    """Where two traces differ, in words; None when they are the same.

    Two deviations are part of the contract. A run in which upstream reads a name that no branch of the closed world
    binds fails in upstream too: after folding it may fail earlier, with the named error. And the
    text of an error that stands for something not installed is shrinker's; its class is upstream's.
    """
    if len(before) != len(after):
        return f"{len(before)} outcomes became {len(after)}: {before[-1]} / {after[-1]}"
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if old == new:
            continue
        if old.error is not None and issubclass(old.error, NAME_ERRORS):
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
