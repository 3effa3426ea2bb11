"""Refuse runs that ask for what is not part of this server. Written by shrinker; see NOTICE and SHRINK.json.

Each row of `REFUSALS` names the function that looks, the attributes it looks at, and what is refused
there. `GONE` names the modules that went: importing one ends with the same error. `NAMES` names what
modules that stay, and their classes, have lost: they answer for it in the same way. `VALUES` names
what of it is a constant in this server, `HANDED` what another module still has: who asks gets these.
`ENDPOINTS` names the paths that went: the server answers them with the error. `OPTIONS` names the
flags and choices that went: the command line's own error tells of them.
"""

import abc
import argparse
import contextlib
import dis
import enum
import functools
import importlib.machinery
import json  # noqa: F401 -- The end of the module does.
import os  # noqa: F401 -- The end of the module does.
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol


class Refusal(NamedTuple):
    """A row of the table."""

    place: str
    attributes: tuple[str, ...]
    """An empty one for the argument itself."""
    values: tuple[str, ...]
    """Values that are refused."""
    only: tuple[str, ...]
    """When there are any, every other value is refused."""
    feature: str
    rule: str
    instead: str
    any_case: bool = False
    """Small and capital letters of values count alike."""

    def refuses(self, value: str) -> bool:
        """Whether one value is refused."""
        written = str.upper if self.any_case else str
        texts = [written(text) for text in self.only or self.values]
        return not texts or (written(value) in texts) is not bool(self.only)


class RemovedFeatureError(ValueError):
    """The run asks for something that was removed from this server.

    No ImportError where code of this server asks, or called who asks: what catches that error would go on without the
    feature, as if it were not installed. Programs that hold this server in their process look whether a module or name is
    there by catching the error that Python has for that: they get one of the three below.
    """


class RemovedModuleError(RemovedFeatureError, ModuleNotFoundError):
    """Code outside imports a module that was removed."""


class RemovedNameError(RemovedFeatureError, ImportError):
    """Code outside imports a name that a module has lost."""


class RemovedAttributeError(RemovedFeatureError, AttributeError):
    """Code outside looks up a name that a module has lost."""


REFUSALS: tuple[Refusal, ...] = ()

SWITCHES: tuple[tuple[str, str], ...] = ()
"""Rule, and the environment variables of which it says that no run of this server sets them: any text is refused where an equals
sign follows, else those that mean yes."""


class Endpoint(NamedTuple):
    """A path that the server had."""

    place: str
    """The function that is given the application."""
    path: str
    """Empty when only the environment names it."""
    environment: str
    """The variable that names another path than `path`; empty when none does."""
    methods: tuple[str, ...]
    feature: str
    rule: str


ENDPOINTS: tuple[Endpoint, ...] = ()


class Option(NamedTuple):
    """A flag, or choices of one, that a command line had."""

    names: tuple[str, ...]
    choices: tuple[str, ...]
    """Empty for the flag itself."""
    feature: str
    rule: str
    instead: str


OPTIONS: tuple[Option, ...] = ()

GONE: tuple[tuple[str, str, str], ...] = ()
"""Rule, what it removed in words, and what went by it: a package, with a colon, and the modules and packages in it; what is below
one went with it. Those of the rule `unreachable` went because nothing that is left of the server uses them."""

NAMES: tuple[tuple[str, str, str], ...] = ()
"""The same of what modules that stay have lost: a module, with a colon, and names of it; a member of
a class stands with the name of its class."""

VALUES: tuple[tuple[Any, str], ...] = ()
"""Constants, and which lost names are such in this server: parentheses stand after what answers with
it when it is called, an equals sign after what only objects of the class have."""

HANDED: tuple[tuple[str, str], ...] = ()
"""Modules that stay, and which names of theirs other modules have handed on."""


def _sections(words: str) -> list[tuple[str, str]]:
    """Cut words of a table into each package or module, and the names that follow it."""
    return re.findall(r"(\S*):((?: [^\s:]+)*)(?!\S)", words)


# What is answered is a tuple, which is made without a line of Python: a server's start makes thousands.


class _Gone(tuple[str, str, str]):
    """A lost name: its module, the name with that of its class, and the rule, of which no more is known.

    As a member of a class it stands behind whatever an object of the class has by itself.
    """

    __slots__ = ()

    def told(self) -> str:
        """Say what is not there, and why."""
        module, path, rule = self
        owner, _, name = path.rpartition(".")
        holder = f"class {module}.{owner}" if owner else f"module {module}"
        return _told(f"the name {name} of the {holder}", FEATURES.get(rule, ""), rule, "", "api")

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        raise RemovedAttributeError(self.told())


class _Unset(tuple[Any, ...]):
    """A member that objects have and their class has not: its module, its name, and the constant."""

    __slots__ = ()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        _, path, value = self
        name = path.rpartition(".")[2]
        if instance is None:
            message = f"type object {owner.__name__!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=owner)
        own = getattr(type(instance), "__getattr__", None)
        # A module of PyTorch finds its parameters there.
        with contextlib.suppress(AttributeError):
            return value if own is None else own(instance, name)
        return value


class _Handed(tuple[str, str, str]):
    """A name of a module that another one still has: both, with the name between them."""

    __slots__ = ()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return getattr(importlib.import_module(self[2]), self[1])


def _answer_with(value: Any, *arguments: Any, **named: Any) -> Any:
    return value


MODULES = {
    f"{package}.{name}".lstrip("."): rule
    for rule, _, words in GONE
    for package, names in _sections(words)
    for name in names.split()
}
FEATURES = {rule: feature for rule, feature, _ in (*GONE, *NAMES)}
LOST: dict[str, list[tuple[Any, Any, str]]] = {}
"""By module what kind of answer it has, of what, and for which lost names."""
for kind, rows in (
    (_Gone, [(rule, words) for rule, _, words in NAMES]),
    (None, VALUES),
    (_Handed, HANDED),
):
    for said, words in rows:
        for module, names in _sections(words):
            LOST.setdefault(module, []).append((kind, said, names))


class _Guard:
    """Stands last among the finders: what it is asked for, no other found."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raises RemovedFeatureError where a removed module is imported; None where one only looks whether it exists."""
        # The machinery of imports asks for both in the same way; only who called it differs.
        who = [frame.f_globals.get("__name__", "") for frame in _callers()]
        if who[:1] == ["importlib.util"] and who[1:2] != ["runpy"]:
            return
        module = name
        while module and module not in MODULES:
            module = module.rpartition(".")[0]
        if not module:
            return
        rule = MODULES[module]
        # Without the name of the module: the machinery passes over an error that names a submodule it looked for by itself.
        raise _probed(RemovedModuleError)(_told(f"the module {name}", FEATURES.get(rule, ""), rule))


class _Answering:
    """Stands first among the finders: a module that lost names answers for them once it is loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """What the other finders find."""
        if name not in LOST:
            return None
        asked = (f.find_spec(name, path, target) for f in sys.meta_path if type(f) not in (_Answering, _Guard))
        spec = next(filter(None, asked), None)
        loader = getattr(spec, "loader", None)
        if isinstance(loader, importlib.machinery.SourceFileLoader | importlib.machinery.SourcelessFileLoader):
            load = loader.exec_module

            def exec_module(module: Any) -> None:
                load(module)
                _answer_for(module)

            # There is one loader for each module of a file.
            loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _answer_for(module: Any) -> None:
    """Let a module tell of the names that it has lost (PEP 562), after its own answer where it has one.

    Each import inside a function asks a module for `__path__`: what it never had is answered for without a line of Python. A class of its
    own for the module would cost nothing there, but picklers and Triton know a module by its exact type.
    """
    name = module.__name__
    lost: dict[str, Any] = {}
    members: dict[str, Any] = {}
    for kind, said, paths in LOST[name]:
        for path in paths.split():
            plain = path.rstrip("()=")
            found = members if "." in plain else lost
            if kind is not None:
                found[plain] = kind((name, path, said))
            elif path.endswith("()"):
                found[plain] = staticmethod(functools.partial(_answer_with, said))
            else:
                found[plain] = _Unset((name, plain, said)) if path.endswith("=") else said
    if members:
        _answer_for_members(module, members)
    if not lost:
        return
    own = vars(module).get("__getattr__")

    # The error for any other name calls the object by its class, whose own `__module__` is no name
    # of the module.
    answers: dict[str, Any] = {"__module__": property()}
    for path, said in lost.items():
        gone = type(said) is _Gone
        answers[path] = property(functools.partial(_refuse_name, said)) if gone else said
    look_up = functools.partial(getattr, type(name, (), answers)())

    def after_own(name: str) -> Any:
        try:
            return own(name)
        except AttributeError:
            if name not in lost:
                raise
        return look_up(name)

    module.__getattr__ = after_own if own else look_up


def _refuse_name(gone: _Gone, asked: Any) -> Any:
    """Raise the named error for who asks a module for a name that it has lost."""
    frame = next(_callers(machinery=True))
    imports = dis.opname[frame.f_code.co_code[frame.f_lasti]] == "IMPORT_FROM"
    raise _probed(RemovedNameError if imports else RemovedAttributeError)(gone.told())


def _answer_for_members(module: Any, lost: dict[str, Any]) -> None:
    """Let classes of a module tell of the members that they have lost.

    What is set stands behind all that an object has by itself, and a class that has the name from
    elsewhere is left alone, as is one whose own class may look at what is set.
    """
    for path, said in lost.items():
        owner, _, name = path.rpartition(".")
        kind = vars(module).get(owner)
        if type(kind) not in (type, abc.ABCMeta, enum.EnumMeta, type(Protocol)):
            continue
        if kind.__module__ != module.__name__ or vars(kind).get("_is_protocol"):
            continue
        for each in kind.__mro__:
            if name in vars(each) and (each, name) not in _TOLD:
                break
        else:
            setattr(kind, name, said)
            _TOLD.add((kind, name))


_TOLD: set[tuple[type, str]] = set()
"""Classes, and the lost members that were set on them."""


def _probed(error: type[RemovedFeatureError]) -> type[RemovedFeatureError]:
    """The error for who asks: `error` where only code outside of this server may catch it."""
    package = __name__.partition(".")[0]
    for frame in _callers():
        spec = frame.f_globals.get("__spec__")
        # A program of the package is called `__main__`.
        name = getattr(spec, "name", None) or frame.f_globals.get("__name__", "")
        if name.partition(".")[0] == package:
            return RemovedFeatureError
    return error


def _told(subject: str, feature: str, rule: str, instead: str = "", kind: str = "keep") -> str:
    """What is not there, the feature, the rule that removed it and the way to get it back."""
    if rule == "unreachable":
        why, back = "unreachable: nothing kept uses it", f"name it in a [[{kind}]] rule of the profile"
    else:
        why, back = f"removed by rule {rule}", f"take rule {rule} out of the profile"
    why = f"{feature}, {why}" if feature else why
    text = f"shrinker: {subject} is not part of this server ({why})."
    return " ".join(filter(None, (text, instead, f"To get it back, {back} and run `make shrink`.")))


def _callers(machinery: bool = False) -> Iterator[Any]:
    """Frames that asked for something, nearest first, this module left out, and the machinery of imports unless it is asked for."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name != __name__ and (machinery or name not in ("importlib._bootstrap", "_frozen_importlib")):
            yield frame
        frame = frame.f_back


def guard() -> None:
    """Look at imports, and at what command lines do not take, from now on."""
    if not any(type(finder) is _Guard for finder in sys.meta_path):
        sys.meta_path.append(_Guard())
        sys.meta_path.insert(0, _Answering())
        # The package itself is being loaded.
        if (package := __name__.partition(".")[0]) in LOST:
            _answer_for(sys.modules[package])
    if OPTIONS and not hasattr(argparse.ArgumentParser.error, "__wrapped__"):
        argparse.ArgumentParser.error = _telling(argparse.ArgumentParser.error)  # type: ignore[method-assign]


def _telling(error: Any) -> Any:
    """The method of a parser that ends the run, which also says what was removed."""

    @functools.wraps(error)
    def telling(parser: Any, message: str) -> Any:
        error(parser, "\n".join([message, *_removed_options(message)]))

    return telling


def _removed_options(message: str) -> Iterator[str]:
    asked: list[tuple[str, str]] = []
    if message.startswith("unrecognized arguments: "):
        asked = [(word.partition("=")[0], "") for word in message.split()[2:] if word.startswith("-")]
    elif found := re.match(r"argument (\S+): invalid choice: '(.*?)' \(", message):
        asked = [(found[1].split("/")[0], found[2])]
    for name, choice in asked:
        for row in OPTIONS:
            if name in row.names and (choice in row.choices if choice else not row.choices):
                yield _told(" ".join(filter(None, (name, choice))), row.feature, row.rule, row.instead)
                break
