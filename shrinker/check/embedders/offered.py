"""What a tree offers to a program outside: names through imports and stars, members of classes through bases, parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from shrinker.check.embedders.uses import Use
from shrinker.check.hierarchy import MADE_BY_FIELDS
from shrinker.check.resolve import Modules
from shrinker.check.symbols import ClassSymbols
from shrinker.syntax.parsing import parsed
from shrinker.syntax.walk import Definition, Function, definitions
from shrinker.values.upstream import PACKAGE

Place = tuple[str, str]
"""Module and name of a definition."""


class Offered(Modules):
    """One tree."""

    @cached_property
    def _parsed(self) -> dict[str, dict[str, Definition]]:
        return {}

    def has(self, use: Use) -> bool:
        """True when a use finds what it names. What the syntax does not tell is taken to be there."""
        return self._resolves(use.module, use.names) and (not use.keyword or self._takes(use))

    def definition(self, module: str, name: str) -> Place:
        """Where a name of a module is defined, through imports and stars; the module itself where that cannot be told."""
        return self._definition(module, name, frozenset()) or (module, name)

    def _resolves(self, module: str, names: tuple[str, ...]) -> bool:
        while module not in self:
            # A text does not say where its module ends.
            module, dot, last = module.rpartition(".")
            if not dot:
                return False
            names = (last, *names)
        for at, name in enumerate(names):
            rest = names[at + 1 :]
            below = f"{module}.{name}"
            if self.imports(module, name) and not (below in self and rest):
                return not rest or self._has_member(module, name, rest[0])
            if below not in self:
                return name == "*"
            module = below
        return True

    def _has_member(self, module: str, name: str, member: str) -> bool:
        found = self._class(module, name)
        return found is None or any(
            member in dict(each.members) or f"{each.name}.{member}" in self._classes(where)
            for where, each in self._closure(*found)
        )

    def _takes(self, use: Use) -> bool:
        """True when a call of what is there may be given a keyword."""
        module, names = use.module, use.names
        while len(names) > 1 and f"{module}.{names[0]}" in self:
            module, names = f"{module}.{names[0]}", names[1:]
        if not names:
            return True
        place = self._class(module, names[0])
        if place is None:
            where, name = self.definition(module, names[0])
            found = self._node(where, name) if len(names) == 1 else None
            return not isinstance(found, Function) or _accepts(found, use.keyword)
        wanted = names[1] if len(names) > 1 else "__init__"
        family = list(self._closure(*place))
        for where, each in family:
            node = self._node(where, each.name)
            for method in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(method, Function) and method.name == wanted:
                    return _accepts(method, use.keyword)
        made = wanted == "__init__" and any(
            each.data or not MADE_BY_FIELDS.isdisjoint(each.bases) for _, each in family
        )
        return not made or any(use.keyword in each.fields for _, each in family)

    def _classes(self, module: str) -> dict[str, ClassSymbols]:
        """The classes of a module; of several of one name the first one."""
        symbols = self.symbols(module)
        return {each.name: each for each in reversed(symbols.classes)} if symbols is not None else {}

    def _class(self, module: str, name: str) -> tuple[str, ClassSymbols] | None:
        where, last = self.definition(module, name)
        found = self._classes(where).get(last)
        return (where, found) if found is not None else None

    def _closure(self, module: str, start: ClassSymbols) -> Iterator[tuple[str, ClassSymbols]]:
        """A class and its bases within the package, nearest first."""
        seen: set[tuple[str, str]] = set()
        pending = [(module, start)]
        while pending:
            where, each = pending.pop(0)
            if (where, each.name) in seen:
                continue
            seen.add((where, each.name))
            yield where, each
            pending += [found for base in each.bases if (found := self._class(where, base)) is not None]

    def _definition(self, module: str, name: str, seen: frozenset[str]) -> Place | None:
        symbols = self.symbols(module)
        if symbols is None or module in seen:
            return None
        seen |= {module}
        sources = [m for _, m, n in symbols.imports if n == name and m.partition(".")[0] == PACKAGE]
        sources += [text.partition(":")[0] for _, text in symbols.paths if text.endswith(f":{name}")]
        if name in self._classes(module) or (name in symbols.bound and not sources):
            return module, name
        found = (self._definition(source, name, seen) for source in (*sources, *symbols.stars) if source in self)
        return next(filter(None, found), None)

    def _node(self, module: str, name: str) -> Definition | None:
        """A definition of a module outside functions, on any branch; the last one where there are several."""
        if module not in self._parsed:
            tree = parsed((self.root / self.files[module]).read_bytes()) if module in self.files else None
            self._parsed[module] = dict(definitions(tree)) if tree is not None else {}
        return self._parsed[module].get(name)


def _accepts(node: Function, keyword: str) -> bool:
    arguments = node.args
    named = (each.arg for each in (*arguments.args, *arguments.kwonlyargs))
    return arguments.kwarg is not None or keyword in named
