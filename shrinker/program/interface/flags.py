"""Flags of command lines: calls of `add_argument`, and annotated fields of dataclasses that become such calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from shrinker.program.interface.choices import choices_of
from shrinker.program.interface.offers import Offer
from shrinker.program.interface.syntax import Syntax, values_of
from shrinker.syntax.walk import children, walk

WORDS = re.compile(rb"\badd_(?:argument\(|cli_args)")
"""What a module with flags writes."""
_DERIVES = "add_cli_args"
"""How the name of a function begins that makes flags of the fields of the class that it is given."""
_ANNOTATED = frozenset({"A", "Annotated"})
_OWN = frozenset({"help", "choices", "default", "aliases", "cli_name", "no_cli"})
"""What is compared by itself, and what a person reads."""


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Flag(Offer):
    """One flag, or a positional argument, of one command line; its subject is the first name."""

    names: tuple[str, ...]
    """``("--tp-size", "--tensor-parallel-size")``; a computed one as it is written."""
    attribute: str = ""
    """What it fills, where that is written: one of its names need not say so (``dest=``, ``cli_name=``)."""


def read_flags(syntax: Syntax, modules: Iterable[str]) -> list[Flag]:
    """Flags of the modules, in the order in which they stand."""
    found: list[Flag] = []
    for module in modules:
        if (tree := syntax.tree(module)) is not None:
            found += _of_block(syntax, module, tree.body, "", {})
            derived = set(_derived(tree))
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and node.name in derived:
                    found += _of_fields(syntax, module, node)
    return found


def _of_block(
    syntax: Syntax, module: str, body: Iterable[ast.AST], owner: str, local: Mapping[str, ast.expr]
) -> Iterator[Flag]:
    for node in body:
        match node:
            case ast.ClassDef():
                yield from _of_block(syntax, module, node.body, f"{owner}.{node.name}".strip("."), {})
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                # A method that adds flags and the fields of its class make one command line.
                inside = owner if owner else node.name
                yield from _of_block(syntax, module, node.body, inside, values_of(node.body))
            case ast.Call(func=ast.Attribute(attr="add_argument")):
                flag = _of_call(syntax, module, node, owner, local)
                if flag is not None:
                    yield flag
            case _:
                yield from _of_block(syntax, module, children(node), owner, local)


def _of_call(syntax: Syntax, module: str, node: ast.Call, owner: str, local: Mapping[str, ast.expr]) -> Flag | None:
    if not node.args or any(isinstance(arg, ast.Starred) for arg in node.args):
        return None
    names = tuple(_text(arg) for arg in node.args)
    given = {k.arg: k.value for k in node.keywords if k.arg is not None}
    return _flag(syntax, module, owner, names, given, given.get("default"), local, node)


def _of_fields(syntax: Syntax, module: str, node: ast.ClassDef) -> Iterator[Flag]:
    for field in node.body:
        match field:
            case ast.AnnAssign(
                target=ast.Name(id=name),
                annotation=ast.Subscript(
                    value=ast.Name(id=annotated) | ast.Attribute(attr=annotated),
                    slice=ast.Tuple(elts=[kind, *metadata]),
                ),
            ) if annotated in _ANNOTATED:
                given: dict[str, ast.expr] | None = None
                for part in metadata:
                    if isinstance(part, ast.Constant | ast.JoinedStr | ast.BinOp) and given is None:
                        given = {}
                    elif isinstance(part, ast.Call) and _last(part.func) == "Arg":
                        given = {k.arg: k.value for k in part.keywords if k.arg is not None}
                if given is None or _constant(given.get("no_cli")) is True:
                    continue
                first = _constant(given.get("cli_name")) or "--" + name.replace("_", "-")
                others = given.get("aliases")
                aliases = [_text(a) for a in others.elts] if isinstance(others, ast.List | ast.Tuple) else []
                given["type"] = kind
                flag = _flag(syntax, module, node.name, (str(first), *aliases), given, field.value, {}, field)
                yield replace(flag, attribute=name)


def _flag(
    syntax: Syntax,
    module: str,
    owner: str,
    names: tuple[str, ...],
    given: Mapping[str, ast.expr],
    default: ast.expr | None,
    local: Mapping[str, ast.expr],
    node: ast.Call | ast.AnnAssign,
) -> Flag:
    chosen = given.get("choices")
    others = ", ".join(f"{k}={ast.unparse(v)}" for k, v in sorted(given.items()) if k not in _OWN)
    parts = {
        "choices": "" if chosen is None else ast.unparse(chosen),
        "default": "" if default is None else ast.unparse(default),
        "": ", ".join(filter(None, (*names[1:], others))),
    }
    return Flag(
        module=module,
        owner=owner,
        subject=names[0],
        parts=tuple(parts.items()),
        choices=None if chosen is None else choices_of(syntax, module, chosen, local),
        line=node.lineno,
        end_line=node.end_lineno or node.lineno,
        names=names,
        attribute=str(_constant(given.get("dest")) or ""),
    )


def _derived(tree: ast.Module) -> Iterator[str]:
    """Classes whose fields become flags."""
    for node in walk(tree):
        if isinstance(node, ast.Call) and _last(node.func).startswith(_DERIVES):
            yield from (arg.id for arg in node.args if isinstance(arg, ast.Name))


def _last(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)


def _constant(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None
