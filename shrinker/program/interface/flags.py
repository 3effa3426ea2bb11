"""Flags of command lines, with their choices: calls of `add_argument`, and annotated fields of dataclasses that become such calls."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from shrinker.program.interface.offers import Choice, Offer
from shrinker.program.interface.syntax import Syntax, values_of
from shrinker.syntax.names import last_name
from shrinker.syntax.walk import children, walk

WORDS = re.compile(rb"\badd_(?:argument\(|cli_args)")
"""What a module with flags writes."""
_DERIVES = "add_cli_args"
"""How the name of a function begins that makes flags of the fields of the class that it is given."""
_ANNOTATED = frozenset({"A", "Annotated"})
_OWN = frozenset({"help", "choices", "default", "aliases", "cli_name", "no_cli"})
"""What is compared by itself, and what a person reads."""

_MOST_DEEP = 20
Locals = Mapping[str, ast.expr]
"""What the names of the function are bound to, each of them once."""


def read_flags(syntax: Syntax, modules: Iterable[str]) -> list[Offer]:
    """Flags of the modules, positional arguments among them, in the order in which they stand; the subject is the first name."""
    found: list[Offer] = []
    for module in modules:
        if (tree := syntax.tree(module)) is not None:
            reader = _Reader(syntax, module)
            found += reader.block(tree.body, "", {})
            derived = set(_derived(tree))
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and node.name in derived:
                    found += reader.fields(node)
    return found


@dataclass(frozen=True, slots=True)
class _Reader:
    """Of one module."""

    syntax: Syntax
    module: str

    def block(self, body: Iterable[ast.AST], owner: str, local: Locals) -> Iterator[Offer]:
        """Flags that calls below these pieces of syntax add, in a class or function of the module."""
        for node in body:
            match node:
                case ast.ClassDef():
                    yield from self.block(node.body, f"{owner}.{node.name}".strip("."), {})
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    # A method that adds flags and the fields of its class make one command line.
                    yield from self.block(node.body, owner or node.name, values_of(node.body))
                case ast.Call(func=ast.Attribute(attr="add_argument"), args=args):
                    if args and not any(isinstance(arg, ast.Starred) for arg in args):
                        given = _given(node)
                        yield self._flag(node, owner, tuple(map(_text, args)), given, given.get("default"), local)
                case _:
                    yield from self.block(children(node), owner, local)

    def fields(self, node: ast.ClassDef) -> Iterator[Offer]:
        """Flags that are made of the annotated fields of a class."""
        for field in node.body:
            match field:
                case ast.AnnAssign(
                    target=ast.Name(id=name), annotation=ast.Subscript(slice=ast.Tuple(elts=[kind, *metadata]))
                ) if last_name(field.annotation) in _ANNOTATED:
                    arguments = [p for p in metadata if isinstance(p, ast.Call) and last_name(p.func) == "Arg"]
                    helps = any(isinstance(part, ast.Constant | ast.JoinedStr | ast.BinOp) for part in metadata)
                    given = {**(_given(arguments[-1]) if arguments else {}), "type": kind}
                    if not (arguments or helps) or _constant(given.get("no_cli")) is True:
                        continue
                    first = _constant(given.get("cli_name")) or "--" + name.replace("_", "-")
                    others = given.get("aliases")
                    aliases = map(_text, others.elts) if isinstance(others, ast.List | ast.Tuple) else ()
                    yield self._flag(field, node.name, (str(first), *aliases), given, field.value, {}, name)

    def _flag(
        self,
        node: ast.Call | ast.AnnAssign,
        owner: str,
        names: tuple[str, ...],
        given: Mapping[str, ast.expr],
        default: ast.expr | None,
        local: Locals,
        attribute: str = "",
    ) -> Offer:
        chosen = given.get("choices")
        others = (f"{k}={ast.unparse(v)}" for k, v in sorted(given.items()) if k not in _OWN)
        texts = ["" if value is None else ast.unparse(value) for value in (chosen, default)]
        where = f"{self.module}.{owner}" if owner else self.module
        return Offer(
            group=where,
            subject=names[0],
            names=names,
            parts=(("choices", texts[0]), ("default", texts[1]), ("", ", ".join(filter(None, (*names[1:], *others))))),
            choices=None if chosen is None else choices_of(self.syntax, self.module, chosen, local),
            attribute=attribute or str(_constant(given.get("dest")) or ""),
            module=self.module,
            where=where,
            line=node.lineno,
            end_line=node.end_lineno or node.lineno,
        )


def _derived(tree: ast.Module) -> Iterator[str]:
    """Classes whose fields become flags."""
    for node in walk(tree):
        if isinstance(node, ast.Call) and last_name(node.func).startswith(_DERIVES):
            yield from (arg.id for arg in node.args if isinstance(arg, ast.Name))


def _given(call: ast.Call) -> dict[str, ast.expr]:
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)


def _constant(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def choices_of(syntax: Syntax, module: str, node: ast.expr, local: Locals, depth: int = 0) -> tuple[Choice, ...] | None:
    """The values in their order; None where the syntax does not tell all of them."""
    bound: tuple[str, ast.expr | ast.ClassDef] | None = None
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return tuple(Choice(ast.unparse(item), module, item.lineno) for item in items)
        case ast.Dict(keys=keys):
            written = [key for key in keys if key is not None]
            return choices_of(syntax, module, ast.List(written), local) if written == keys else None
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, other = (choices_of(syntax, module, part, local, depth + 1) for part in (left, right))
            return None if one is None or other is None else (*one, *other)
        case (
            ast.Call(func=ast.Name(id="list" | "tuple" | "sorted"), args=[inner], keywords=[])
            | ast.Call(func=ast.Attribute(value=inner, attr="keys" | "copy"), args=[])
        ):
            bound = module, inner
        case ast.Name(id=name):
            bound = (module, local[name]) if name in local else syntax.find(module, name)
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            found = syntax.find(module, owner)
            value = values_of(found[1].body).get(name) if found and isinstance(found[1], ast.ClassDef) else None
            bound = (found[0], value) if found and value is not None else None
    if bound is None or isinstance(bound[1], ast.ClassDef) or depth > _MOST_DEEP:
        return None
    return choices_of(syntax, bound[0], bound[1], local if bound[0] == module else {}, depth + 1)
