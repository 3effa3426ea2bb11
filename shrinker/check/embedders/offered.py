"""What a tree offers to a program outside: names through imports and stars, members of classes through bases, parameters."""

import ast
from functools import cached_property

from shrinker.check.embedders.uses import Use
from shrinker.check.hierarchy import MADE_BY_FIELDS
from shrinker.check.resolve import Modules
from shrinker.syntax.parsing import parsed
from shrinker.syntax.walk import Definition, Function, definitions


class Offered(Modules):
    """One tree."""

    @cached_property
    def _parsed(self) -> dict[str, dict[str, Definition]]:
        return {}

    def has(self, use: Use) -> bool:
        """True when a use finds what it names. What the syntax does not tell is taken to be there."""
        return self.resolves(use.module, use.names) and (not use.keyword or self._takes(use))

    def _takes(self, use: Use) -> bool:
        """True when a call of what is there may be given a keyword."""
        module, names = use.module, use.names
        while len(names) > 1 and f"{module}.{names[0]}" in self:
            module, names = f"{module}.{names[0]}", names[1:]
        if not names:
            return True
        place = self.class_of(module, names[0])
        if place is None:
            where, name = self.definition(module, names[0])
            found = self._node(where, name) if len(names) == 1 else None
            return not isinstance(found, Function) or _accepts(found, use.keyword)
        wanted = names[1] if len(names) > 1 else "__init__"
        family = list(self.closure(*place))
        for where, each in family:
            node = self._node(where, each.name)
            for method in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(method, Function) and method.name == wanted:
                    return _accepts(method, use.keyword)
        made = wanted == "__init__" and any(
            each.data or not MADE_BY_FIELDS.isdisjoint(each.bases) for _, each in family
        )
        return not made or any(use.keyword in each.fields for _, each in family)

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
