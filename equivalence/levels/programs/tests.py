"""Run files of tests, each in a child that has loaded PyTorch; write how each test ended.

GIVEN.json RESULT.json.
"""

import builtins
import importlib
import os
import sys
import types
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
import torch  # noqa: F401  each child has it
import transformers  # noqa: F401

from equivalence.processes import given, in_child, tell

_PLAIN_IMPORT = builtins.__import__


class UsesRemoved(Exception):
    """A test does something with what its file could not import."""


class Removed(type):
    """The class of classes that stand for names which were removed: a file can be collected, its
    tests that use them fail.
    """

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UsesRemoved(f"{cls.__name__}.{name}")

    def _used(cls, *_: Any, **__: Any) -> Any:
        raise UsesRemoved(cls.__name__)

    __call__ = __iter__ = __contains__ = __len__ = __getitem__ = __instancecheck__ = __add__ = (
        __radd__
    ) = __eq__ = _used
    __hash__ = type.__hash__


class RemovedModule(types.ModuleType):
    """Stands for a module that was removed."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Removed(name, (), {})


def module_of(name: str) -> types.ModuleType:
    """Return the module, or what stands for it."""
    try:
        return importlib.import_module(name)
    except Exception as error:
        if asked["refusal"] not in str(error):
            raise
        return sys.modules.setdefault(name, RemovedModule(name))


def import_for_tests(
    name: str,
    globals: Any = None,
    locals: Any = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    """Python's import; what tests and their helpers import of the package, and what was removed, is
    stood for.
    """
    asks = str((globals or {}).get("__file__", "")).startswith(tuple(asked["folders"]))
    if level or not asks or not name.startswith("sglang"):
        return _PLAIN_IMPORT(name, globals, locals, fromlist, level)
    try:
        found = _PLAIN_IMPORT(name, globals, locals, fromlist, level)
    except Exception:
        found = module_of(name)
        if not fromlist:
            parts = name.split(".")
            for end in range(2, len(parts) + 1):
                setattr(
                    module_of(".".join(parts[: end - 1])),
                    parts[end - 1],
                    module_of(".".join(parts[:end])),
                )
            return sys.modules[parts[0]]
    if not fromlist or "*" in fromlist:
        return found
    taken = types.ModuleType(name)
    for one in fromlist:
        try:
            value = getattr(found, one)
        except Exception:
            try:
                value = importlib.import_module(f"{name}.{one}")
            except Exception:
                value = Removed(one, (), {})
        setattr(taken, one, value)
    return taken


class Results:
    """A plugin of pytest that keeps how each test ended, and the end of what it said."""

    def __init__(self) -> None:
        self.ended: dict[str, tuple[str, str]] = {}

    def _keep(self, name: str, report: Any) -> None:
        if self.ended.get(name, ("passed",))[0] == "passed":
            self.ended[name] = (
                report.outcome,
                "" if report.outcome == "passed" else str(report.longrepr)[-2000:],
            )

    def pytest_runtest_logreport(self, report: Any) -> None:
        """One phase of a test."""
        if report.when == "call" or report.outcome != "passed":
            self._keep(report.nodeid, report)

    def pytest_collectreport(self, report: Any) -> None:
        """A file, or a class of it."""
        if report.outcome != "passed":
            self._keep("", report)


def ended(path: str) -> dict[str, tuple[str, str]]:
    """Run one file in this process; how its tests ended."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(null, standard)
    if asked["stand_in"]:
        builtins.__import__ = import_for_tests
    with suppress(ImportError):
        # Upstream's helpers, whole, with either tree.
        importlib.import_module("sglang.test").__path__ = [asked["folders"][1]]
    results = Results()
    with suppress(BaseException):
        pytest.main(
            ["-q", "-p", "no:cacheprovider", "--tb=short", "-W", "ignore", path], plugins=[results]
        )
    return results.ended


asked = given()
os.chdir(asked["folders"][0])
found = {}
for name in asked["files"]:
    # Empty where it took too long or died.
    found[name] = in_child(partial(ended, name), asked["seconds"])[1] or {}
tell(found)
