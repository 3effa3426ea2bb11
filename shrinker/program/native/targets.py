"""Targets of a build that offer nothing any more: what builds them goes, with the lists and fetched sources that only they needed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from shrinker.program.nodes import suffix
from shrinker.syntax.cmake import Command, read_cmake
from shrinker.values.native import Cut

_ADDS = frozenset({"add_library", "python_add_library", "python3_add_library", "pybind11_add_module"})
_OF_ONE = re.compile(r"target_\w+|set_target_properties")
"""Commands that speak of the target which is their first argument."""
_VARIABLE = re.compile(r"\$\{([^{}$]+)\}")
_FETCHES = frozenset({"fetchcontent_declare", "fetchcontent_populate"})


@dataclass(frozen=True, slots=True)
class Placed:
    """A command of a build list."""

    path: str
    command: Command
    alone: bool
    """True when no other command is on its lines."""

    @property
    def words(self) -> tuple[str, ...]:
        """Its arguments."""
        return tuple(argument.text for argument in self.command.arguments)


def commands_of(texts: Mapping[str, str]) -> tuple[Placed, ...]:
    """All commands of the build lists among some files."""
    found: list[Placed] = []
    for path, text in texts.items():
        if path.rpartition("/")[2] == "CMakeLists.txt" or suffix(path) == "cmake":
            commands = read_cmake(text)
            lines = [line for each in commands for line in range(each.line, each.last + 1)]
            shared = {line for line in lines if lines.count(line) > 1} if len(lines) != len(set(lines)) else set()
            found += [Placed(path, c, shared.isdisjoint(range(c.line, c.last + 1))) for c in commands]
    return tuple(found)


def targets_of(commands: Collection[Placed]) -> dict[str, tuple[str, ...]]:
    """Texts of the sources of each library, with those of the variables that it names."""
    values: dict[str, list[str]] = {}
    for each in commands:
        if each.command.name == "set" and each.words:
            values.setdefault(each.words[0], []).extend(each.words[1:])
    return {
        each.words[0]: tuple(text for word in each.words[1:] for text in _values(word, values))
        for each in commands
        if each.command.name in _ADDS and each.words
    }


def target_cuts(commands: Collection[Placed], idle: Collection[str]) -> dict[str, tuple[Cut, ...]] | None:
    """Commands that go with some targets, by path; None where one of them speaks of something else, too."""
    gone = [each for each in commands if not set(each.words).isdisjoint(idle)]
    if not all(each.alone and _is_of_one(each, idle) for each in gone):
        return None
    gone += _only_for(gone, commands)
    cuts: dict[str, list[Cut]] = {}
    for each in gone:
        what = f"{each.command.name} {each.words[0] if each.words else ''}"
        cuts.setdefault(each.path, []).append(Cut(each.command.line, each.command.last, what))
    return {path: tuple(sorted(found)) for path, found in cuts.items()}


def _values(word: str, values: Mapping[str, list[str]]) -> Iterator[str]:
    match = _VARIABLE.fullmatch(word)
    yield from (values.get(match[1], ()) if match else (word,))


def _is_of_one(each: Placed, idle: Collection[str]) -> bool:
    name, words = each.command.name, each.words
    if name == "install":
        named = words[1 : words.index("LIBRARY")] if "LIBRARY" in words else words[1:2]
        return words[0] == "TARGETS" and set(named) <= set(idle)
    return words[0] in idle and (name in _ADDS or _OF_ONE.fullmatch(name) is not None)


def _only_for(gone: list[Placed], commands: Collection[Placed]) -> list[Placed]:
    """Lists, and what is fetched, that what goes names and nothing that stays does."""
    more: list[Placed] = []
    while True:
        out = [*gone, *more]
        left = [each for each in commands if each not in out]
        named = {name for each in out for word in each.words for name in _VARIABLE.findall(word)}
        fresh = [
            each for each in left if each.alone and (name := _made(each)) and _needed(name, each, named, left) is False
        ]
        if not fresh:
            return more
        more += fresh


def _made(each: Placed) -> str:
    """The variable that a command gives a value and does nothing else, or what it fetches."""
    name, words = each.command.name, each.words
    if name in _FETCHES:
        return f"{words[0]}_SOURCE_DIR"
    if name == "set" and words and not {"CACHE", "PARENT_SCOPE"} & set(words) and not words[0].startswith("CMAKE_"):
        return words[0]
    if (name == "list" and words[:1] == ("APPEND",)) or (name == "file" and words[:1] == ("GLOB",)):
        return words[1]
    return ""


def _needed(name: str, own: Placed, named: Collection[str], left: Collection[Placed]) -> bool:
    """True when something that stays reads a variable, or nothing that goes did."""
    if name not in named:
        return True
    base = name.removesuffix("_SOURCE_DIR")
    for each in left:
        makes = _made(each) == name
        for word in each.words[1 + (each.command.name in ("list", "file")) :] if makes else each.words:
            if name in _VARIABLE.findall(word) or (not makes and own.command.name in _FETCHES and base in word):
                return True
            if not makes and word == name:
                # `if (LISTED)`, `foreach(x IN LISTS LISTED)`: read without a sign.
                return True
    return False
