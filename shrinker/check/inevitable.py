"""Programs and modules that come to a named error in every run: a rule took what each of these asks
for.

A named error may stand where a feature is asked for that is not there. On the straight way through
a program nothing was asked for, and a rule that says so (`only_when_asked`) is wrong. A function
ends when the way through it, suites of tests left out, meets a named error or a call of one that
ends: a question, since a test before it may have left. Where none may, and no word of what is
dropped is in the function's name, it is a question that the function ends at all: whoever calls it
asked for nothing. Classes are told apart by their last names, as in `hierarchy`. What a decorator
of the package files without a key is run by whoever runs all that was filed.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from shrinker.check.allowances import ERROR_PREFIX, is_named_error
from shrinker.check.capabilities.vocabulary import Vocabulary
from shrinker.check.symbols import ModuleSymbols
from shrinker.check.trees import Seen, Trees
from shrinker.syntax.control import is_main
from shrinker.syntax.names import dotted
from shrinker.syntax.parsing import parsed
from shrinker.syntax.scopes import COMPREHENSIONS
from shrinker.syntax.walk import Definition, Function, children, definitions, walk
from shrinker.values.relations import grouped
from shrinker.values.upstream import enclosing

_MADE_BY = ("__init__", "__post_init__", "__new__")
_ENDS = "comes to a named error in every run that reaches its end"
_FUNCTIONS = "functions that end"
_ALWAYS = "ends in a named error whatever it is given"
_LEAVING = (ast.Return, ast.Yield, ast.YieldFrom)
_APART = (ast.Lambda, *COMPREHENSIONS)


def inevitable_errors(trees: Trees, seen: Seen) -> None:
    """Modules and programs of the generated tree that cannot run to their end."""
    seen.look(len(trees.python))
    _Search(trees, seen).run()


class _Search:
    def __init__(self, trees: Trees, seen: Seen) -> None:
        self._trees = trees
        self._seen = seen
        self._words = Vocabulary(trees.stated.dropped)
        self._ends: dict[str, str] = {}
        """Why a function ends, by its dotted name."""
        self._members: dict[str, set[str]] = defaultdict(set)
        """Last names of the classes whose method of this name ends."""
        classes = (each for symbols in trees.kept.values() for each in symbols.classes)
        self._defined = grouped(
            (name, each.name.rpartition(".")[2]) for each in classes for name, _ in each.members
        )
        """Last names of the classes that have a method of this name."""

    def run(self) -> None:
        """Go from the named errors to who meets them, until nobody else does."""
        texts = {path: (self._trees.out / path).read_bytes() for path in self._trees.python}
        wanted = {re.escape(ERROR_PREFIX)}
        while wanted:
            mentions = re.compile("|".join(sorted(wanted)).encode())
            before = len(self._ends)
            for path, text in texts.items():
                if mentions.search(text) and (tree := parsed(text, path)) is not None:
                    self._file(path, tree)
            # A class is made by its own name, or by that of its methods' `cls`.
            ended = (name.split(".")[-2:] for name in [*self._ends][before:])
            wanted = {
                rf"\b{each[0]}\b" if each[-1] in _MADE_BY else rf"\b{each[-1]}\s*\("
                for each in ended
            }

    def _file(self, path: str, tree: ast.Module) -> None:
        symbols = self._trees.kept[path]
        # A program that no root runs is a named error and nothing else.
        programs = [
            node.body for node in filter(is_main, tree.body) if not is_named_error(node.body[0])
        ]
        for what, body in (
            ("the module", tree.body),
            *(("the program", body) for body in programs),
        ):
            if why := self._reason(body, symbols, ""):
                self._seen.ask(path, body[0].lineno, f"{what} {_ENDS}: {why}")
        module = symbols.module or path
        functions = ((name, part) for name, part in definitions(tree) if isinstance(part, Function))
        for name, each in grouped(functions).items():
            around, _, last = name.rpartition(".")
            owner = around.rpartition(".")[2]
            known = f"{module}.{name}" in self._ends
            whys = [] if known else [self._reason(one.body, symbols, owner) for one in each]
            if whys and all(whys):
                self._ask_for(f"{module}.{name}", each, path)
                self._ends[f"{module}.{name}"] = whys[0]
                for decorator in each[0].decorator_list:
                    if self._resolved(symbols, dotted(decorator)):
                        filed = f"{name}, filed by `{dotted(decorator)}`,"
                        self._seen.ask(path, each[0].lineno, f"{filed} {_ENDS}: {whys[0]}")
                if owner:
                    self._members[last].add(owner)

    def _ask_for(self, name: str, functions: Sequence[Function], path: str) -> None:
        """Ask why a function does nothing but to end, where its name does not say it."""
        explained = self._words.whole(name) or self._words.of(name.split("."), False)
        if not explained and all(_ends_by_itself(each.body) for each in functions):
            asked = "a [[fact]] for what it calls, or a word of [[dropped]]"
            self._seen.ask(
                path, functions[0].lineno, f"{name} {_ALWAYS}; {asked}", check=_FUNCTIONS
            )

    def _reason(self, body: Sequence[ast.stmt], symbols: ModuleSymbols, owner: str) -> str:
        for node in _straight(body):
            if isinstance(node, ast.Raise):
                return f"line {node.lineno}" if is_named_error(node) else ""
            if called := self._called(node, symbols, owner):
                return called
        return ""

    def _called(self, call: ast.Call, symbols: ModuleSymbols, owner: str) -> str:
        name = dotted(call.func)
        first, _, rest = name.partition(".")
        if owner and first in ("self", "cls"):
            return self._member(owner, (rest,) if rest else _MADE_BY, first == "self")
        target = self._resolved(symbols, name)
        if target in self._ends:
            return f"{target}, {self._ends[target]}"
        *_, holder, last = ("", *target.split("."))
        return self._member(last, _MADE_BY, False) or self._member(holder, (last,), False)

    def _member(self, owner: str, members: Sequence[str], below: bool) -> str:
        for member in members:
            around = self._trees.families.around(owner, below=below).intersection(
                self._defined.get(member, ())
            )
            if around and around <= self._members[member]:
                return f"{owner}.{member}"
        return ""

    def _resolved(self, symbols: ModuleSymbols, name: str) -> str:
        """Return the dotted name that a name of a module stands for, imports followed."""
        first, _, rest = name.partition(".")
        targets = dict(symbols.named).get(first, ())
        if len(targets) != 1:
            return f"{symbols.module}.{name}" if first in symbols.bound else ""
        whole = f"{targets[0]}.{rest}".rstrip(".")
        module = next((each for each in enclosing(whole) if each in self._trees.modules.files), "")
        last, *below = whole.removeprefix(f"{module}.").split(".")
        place = self._trees.modules.definition(module, last)
        return ".".join((*place, *below)) if place is not None else whole


def _straight(body: Sequence[ast.stmt]) -> Iterator[ast.Call | ast.Raise]:
    """Yield what runs of a block whatever its tests say, in order; what may leave it early is taken
    for a test like any other.
    """
    for node in body:
        match node:
            case ast.Raise():
                yield node
                return
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    yield from _calls(item.context_expr)
                yield from _straight(node.body)
            case (
                ast.If(asked)
                | ast.While(asked)
                | ast.Match(asked)
                | ast.For(iter=asked)
                | ast.AsyncFor(iter=asked)
            ):
                yield from _calls(asked)
            case ast.Try(handlers=handlers):
                # An error in it may be caught.
                yield from () if handlers else _straight(node.body)
            case _ if not isinstance(node, Definition):
                yield from _calls(node)
        if isinstance(node, ast.Return):
            return


def _ends_by_itself(body: Sequence[ast.stmt]) -> bool:
    """Tell whether a function meets a named error of its own whatever it is given."""
    for node in body:
        if is_named_error(node):
            return True
        if isinstance(node, ast.With | ast.AsyncWith) and _ends_by_itself(node.body):
            return True
        if not isinstance(node, Definition) and any(
            isinstance(part, _LEAVING) for part in walk(node)
        ):
            return False
    return False


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    """Calls that an expression makes whatever its parts give."""
    if isinstance(node, _APART):
        return
    first = (
        [node.test]
        if isinstance(node, ast.IfExp)
        else node.values[:1]
        if isinstance(node, ast.BoolOp)
        else None
    )
    for part in children(node) if first is None else first:
        yield from _calls(part)
    if isinstance(node, ast.Call):
        yield node
