"""Does every line that upstream executed stand in the generated tree?

Line by line within its function, in order (`pair`); what is missing must be of one of the kinds of
`reasons`, or is a finding that names it. Lines in the bodies of modules and classes that an import
executes are looked at too, but for what only defines, imports or binds a name: that is what the
levels references and imports ask about.
"""

import ast
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from equivalence.trace import reasons
from equivalence.trace.source import Line, Names, Scope, Source, names_of, names_of_tree
from shrinker.cache.workers import without_gc
from shrinker.check import allowances
from shrinker.check.lost import is_let_go
from shrinker.check.subsequence import Tokens, within
from shrinker.check.symbols import registers_of
from shrinker.check.trees import RuleIndex
from shrinker.ruleset.match import any_module_matches, any_name_matches
from shrinker.syntax.names import first_name, is_special
from shrinker.syntax.walk import Definition
from shrinker.values.outcome import Finding
from shrinker.values.relations import grouped
from shrinker.values.upstream import PACKAGE_PREFIX, module_name

EXECUTED = "executed lines"
FOUND = "found word for word"
SHORTER = "found simplified"
Lines = Mapping[str, frozenset[int]]
"""Numbers of lines by path below the package."""
_Score = tuple[int, int, int]
_Pairs = tuple[int, int, Any] | None
"""The first pair of lines, and those after it."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What people said that may be missing: the rules of the profile, and the interface that it
    declares.
    """

    defaults: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Tokens that rules put in place of upstream's (`allowances.default_tokens`)."""
    refused: frozenset[str] = frozenset()
    """Values that the interface lists as refused."""
    calls: tuple[str, ...] = ()
    """Patterns of functions whose result a fact states."""
    modules: tuple[str, ...] = ()
    """Patterns of modules that a rule removes."""
    index: RuleIndex | None = None
    definitions: tuple[str, ...] = ()
    """Patterns of functions that a rule removes by their names."""
    pure: tuple[str, ...] = ()
    """Patterns of functions that only answer, as a rule says."""


KINDS = (FOUND, SHORTER, *reasons.KINDS)


@dataclass(slots=True)
class _File:
    path: str
    gone: bool
    upstream: Source
    generated: Source
    executed: Counter[int]
    running: frozenset[int]
    """First numbers of the logical lines that ran while nothing was imported."""

    @property
    def module(self) -> str:
        """Dotted name."""
        return module_name(PACKAGE_PREFIX + self.path) or ""


def _read(
    running: Lines, importing: Lines, upstream: Path, generated: Path
) -> tuple[list[_File], Counter[str]]:
    """Return the files that differ; the lines of the others are counted."""
    files, lines = list[_File](), Counter[str]()
    for path in sorted({*running, *importing}):
        ran = running.get(path, frozenset())
        numbers = ran | importing.get(path, frozenset())
        data, place = (upstream / path).read_bytes(), generated / path
        left = place.read_bytes() if place.is_file() else None
        if left == data:
            lines[FOUND] += len(numbers)
        elif left is None and path not in running:
            lines[reasons.MODULE] += len(numbers)
        else:
            source, remains = (
                Source.read((text or b"").decode("utf-8-sig")) for text in (data, left)
            )
            files.append(
                _File(
                    path,
                    left is None,
                    source,
                    remains,
                    source.of(numbers),
                    frozenset(source.of(ran)),
                )
            )
    return files, lines


@dataclass
class Comparison:
    """Judges the lines of files that differ."""

    files: list[_File]
    names: Names
    stated: Stated
    lines: Counter[str]
    """Executed physical lines: found word for word, found simplified, or exempt, by kind."""
    missing: list[Finding] = field(default_factory=list)
    known: dict[str, bool] = field(default_factory=dict)
    only: dict[str, bool] = field(default_factory=dict)

    @cached_property
    def gone(self) -> dict[str, list[list[Line]]]:
        """Executed lines of each function that is gone, by its name; an empty list of one whose
        result is stated, or that only answers.
        """
        return grouped(
            (_name(function), [] if self._is_idle(file, function) else ran)
            for file in self.files
            for function, lines in file.upstream.functions.items()
            if function not in file.generated.functions
            and (ran := [line for line in lines if line.number in file.running])
        )

    def run(self) -> None:
        """Count the lines of all files, or find that they are missing."""
        for file in self.files:
            for scope, lines in file.upstream.scopes.items():
                self._scope(file, scope, lines)
        self.missing.sort(key=attrgetter("path", "line"))

    def _scope(self, file: _File, scope: Scope, lines: list[Line]) -> None:
        executed = [line.number in file.executed for line in lines]
        if not any(executed):
            return
        left, function = file.generated.scopes.get(scope, []), lines[0].function
        pairs = pair(
            [x.tokens for x in lines], executed, [x.tokens for x in left], self.stated.defaults
        )
        remains = function in file.generated.functions
        around = reasons.Around(
            names_of(file.generated.definitions.get(function, ())), self.names, self.idle
        )
        for index, line in ((index, line) for index, line in enumerate(lines) if executed[index]):
            if index in pairs:
                kind: str | None = FOUND if left[pairs[index]].tokens == line.tokens else SHORTER
            else:
                kind = (
                    self._kind(file, line, around, remains) if function else self._bound(file, line)
                )
            if kind is None:
                where, text = ".".join(line.scope) or "the module", " ".join(line.tokens)
                said = (
                    f"upstream executed this line of {where}, which the tree has not got: "
                    f"{text[:200]}"
                )
                self.missing.append(
                    Finding(EXECUTED, PACKAGE_PREFIX + file.path, line.number, said)
                )
            else:
                self.lines[kind] += file.executed[line.number]

    def _kind(self, file: _File, line: Line, around: reasons.Around, remains: bool) -> str | None:
        if remains:
            return reasons.reason(line, around)
        if line.number not in file.running:
            return reasons.IMPORTING
        if self._is_stated(file, line.function):
            return reasons.STATED
        if self._named(file, line.function):
            return None
        if self._only_for_stated(line.function):
            return reasons.STATED
        gone = file.gone and any_module_matches(self.stated.modules, file.module)
        if gone or any_name_matches(
            self.stated.definitions, ".".join((file.module, *line.function))
        ):
            return reasons.REMOVED
        return reasons.FUNCTION if self.idle(_name(line.function)) else None

    def _is_stated(self, file: _File, function: Scope) -> bool:
        """Tell whether a fact names it; a pattern that starts with a dot names a method of any
        class.
        """
        method = len(function) > 1 and f".{function[-1]}" in self.stated.calls
        return method or any_name_matches(self.stated.calls, ".".join((file.module, *function)))

    def _is_idle(self, file: _File, function: Scope) -> bool:
        """Tell whether rules say what it gives, or that it does nothing else."""
        method = len(function) > 1 and f".{function[-1]}" in self.stated.pure
        pure = method or any_name_matches(self.stated.pure, ".".join((file.module, *function)))
        return pure or self._is_stated(file, function)

    def _only_for_stated(self, function: Scope) -> bool:
        """Tell whether all that ran and says the function's name, or its class's, is a function
        that a fact names.
        """
        if (name := function[0]) not in self.only:
            said = [
                self._is_stated(other, line.function)
                for other in self.files
                for line in other.upstream.lines
                if line.number in other.executed and name in line.tokens and not _binds(line, name)
            ]
            self.only[name] = bool(said) and all(said)
        return self.only[name]

    def _named(self, file: _File, function: Scope) -> bool:
        """Tell whether the generated tree may still reach a function that is gone."""
        owner = function[0]
        # Of a class that is gone nothing can be reached without its name.
        if len(function) == 1 or not any(
            scope[0] == owner for scope in file.generated.scopes if scope
        ):
            return owner in self.names.plain
        return _name(function) in self.names.plain | self.names.attributes

    def idle(self, name: str) -> bool:
        """Tell whether functions of this name are gone, and what ran of them had no effect; they
        may call each other.
        """
        if name not in self.gone:
            # Of what is not the tree's own nothing is known.
            return False
        if name not in self.known:
            self.known[name] = True
            # What calls functions that do nothing now did something in upstream.
            around = reasons.Around(names_of(()), replace(self.names, empty=frozenset()), self.idle)
            self.known[name] = all(
                reasons.without_effect(line, around) for lines in self.gone[name] for line in lines
            )
        return self.known[name]

    def _bound(self, file: _File, line: Line) -> str | None:
        """Of the body of a module or class: what has an effect of its own has to be there."""
        node, index = line.statement, self.stated.index
        if file.gone:
            return reasons.MODULE
        if not isinstance(node, ast.Expr) or isinstance(node.value, ast.Constant):
            return reasons.BOUND
        said = {
            part.value
            for part in ast.walk(node)
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        }
        filed = registers_of([node]) if index is not None else ()
        let_go = index and any(is_let_go(row, file.module, index) for row in filed)
        let_go = let_go or self._hands_over_what_is_gone(node)
        return reasons.REGISTRATION if let_go or said & self.stated.refused else None

    def _hands_over_what_is_gone(self, node: ast.Expr) -> bool:
        """Tell whether a call is given nothing but names that the tree neither defines nor says."""
        if not isinstance(node.value, ast.Call):
            return False
        parts = [*node.value.args, *(keyword.value for keyword in node.value.keywords)]
        given = {first_name(part) for part in parts}
        known = self.names.plain | self.names.attributes | self.names.defined
        return bool(given) and all(given) and not given & known


def compare(
    running: Lines, importing: Lines, upstream: Path, generated: Path, stated: Stated | None = None
) -> Comparison:
    """Look for every executed line in both folders of the package.
    Raises SyntaxError where an executed file, or what is left of it, is not Python."""
    with without_gc():
        files, lines = _read(running, importing, upstream, generated)
        found = Comparison(files, names_of_tree(generated), stated or Stated(), lines)
        found.run()
    return found


def _binds(line: Line, name: str) -> bool:
    """Tell whether a line of a module or class only defines or imports a name, or is the function's
    or class's own.
    """
    only = not line.function and isinstance(
        line.statement, Definition | ast.Import | ast.ImportFrom
    )
    return only or name in (*line.scope[:1], *line.function[:1])


def _name(function: Scope) -> str:
    """Return the name by which a function is used: of a special method that of its class."""
    return function[-2] if len(function) > 1 and is_special(function[-1]) else function[-1]


def pair(
    upstream: Sequence[Tokens],
    executed: Sequence[bool],
    generated: Sequence[Tokens],
    defaults: allowances.Defaults,
) -> dict[int, int]:
    """Index of the generated line by the index of upstream's, of which some were executed; both are
    logical lines of one function.

    A generated function is upstream's after deletions, so its lines pair with upstream's in order.
    Where several pairings exist (the same text stands in two branches), the level asks whether ANY
    leaves every executed line in place: first as many generated lines as possible are paired, then
    as many as possible word for word, then as many executed ones as possible.
    """
    if list(upstream) == list(generated):
        return {index: index for index in range(len(upstream))}
    rank, columns = _ranks(defaults), len(generated)
    here: list[tuple[_Score, _Pairs]] = [((0, 0, 0), None)] * (columns + 1)
    for i, own in reversed([*enumerate(upstream)]):
        below, here = here, here[:]
        for j in range(columns - 1, -1, -1):
            here[j] = here[j + 1] if here[j + 1][0] > below[j][0] else below[j]
            if worth := rank(generated[j], own):
                (count, same, ran), others = below[j + 1]
                score = count + 1, same + (worth == 2), ran + executed[i]
                if score >= here[j][0]:
                    here[j] = score, (i, j, others)
    found, pairs = dict[int, int](), here[0][1]
    while pairs is not None:
        i, j, pairs = pairs
        found[i] = j
    return found


def _ranks(defaults: allowances.Defaults) -> Callable[[Tokens, Tokens], int]:
    """0: the first line is not what is left of the second; 1: it is; 2: both are the same."""

    allowed = cache(partial(allowances.allowed, defaults=defaults))
    names = cache(frozenset[str])

    @cache
    def rank(generated: Tokens, upstream: Tokens) -> int:
        if generated == upstream:
            return 2
        line = allowed(generated)
        # A line of allowances alone (`pass`) would stand for anything.
        if not line.needed or not line.needed <= names(upstream):
            return 0
        return int(bool(within(line, upstream)))

    return rank
