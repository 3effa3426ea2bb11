"""What the command lines and HTTP servers of one tree take and answer, as it is written there.

Flags, with their choices, are calls of `add_argument`, and annotated fields of dataclasses that
become such calls; endpoints are functions that a decorator files under a path.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from shrinker.program.interface.syntax import Syntax, values_of
from shrinker.syntax.names import last_name
from shrinker.syntax.walk import Function, children, walk
from shrinker.values.outcome import Finding

_FLAGS = re.compile(rb"\badd_(?:argument\(|cli_args)")
"""What a module with flags writes."""
_DERIVES = "add_cli_args"
"""How the name of a function begins that makes flags of the fields of the class that it is given.
"""
_FIELDS = re.compile(rb": *A(?:nnotated)?\[")
"""What a module with fields that become flags writes."""
_ANNOTATED = frozenset({"A", "Annotated"})
_OWN = frozenset({"help", "choices", "default", "aliases", "cli_name", "no_cli"})
"""What is compared by itself, and what a person reads."""

_OR_NOT = "BooleanOptionalAction"
"""The action that takes ``--no-flag`` beside ``--flag``."""
_MOST_DEEP = 20
"""Names that are followed to a list of choices."""
Locals = Mapping[str, ast.expr]
"""What the names of the function are bound to, each of them once."""
_VERBS = ("get", "post", "put", "delete", "patch", "head", "options", "api_route", "websocket")
_ENDPOINTS = re.compile(rb"^[ \t]*@[\w.]+\.(?:%s)\(" % "|".join(_VERBS).encode(), re.MULTILINE)
"""What a module with endpoints writes."""


@dataclass(frozen=True, slots=True, order=True)
class Choice:
    """One value of a list of choices, and where it is written."""

    text: str
    module: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Offer:
    """A flag, an endpoint, or a field of what is sent: equal where the same is written of it,
    wherever that stands.
    """

    group: str
    """The command line (module, and class or function below it) of a flag, the module of an
    endpoint: what goes as a whole is told as one.
    """
    subject: str
    """``--flag``, ``GET /path``, ``Model.field``."""
    names: tuple[str, ...] = ()
    """Of a flag all of them, a computed one as it is written; of an endpoint method, path and
    environment variable.
    """
    parts: tuple[tuple[str, str], ...] = ()
    """What else is written of it, each part by its label."""
    choices: tuple[Choice, ...] | None = None
    """None where there are none, or the syntax does not tell them."""
    attribute: str = ""
    """What a flag fills, where that is written: one of its names need not say so (``dest=``,
    ``cli_name=``).
    """
    module: str = field(compare=False)
    where: str = field(compare=False)
    """Module, and class or function below it."""
    line: int = field(compare=False)
    end_line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Offered:
    """What the command lines and servers of one tree take and answer."""

    paths: Mapping[str, str]
    """Dotted module to path."""
    flags: list[Offer]
    endpoints: list[Offer]
    modules: frozenset[str]
    """Modules that hold words of either."""
    unread: tuple[Finding, ...] = ()
    """Classes whose fields are declared as flags are, and of which no command line was read."""


def read_offered(syntax: Syntax, among: Iterable[str] | None = None) -> Offered:
    """Return flags and endpoints of a tree, or of some of its modules."""
    flags, endpoints, declaring = syntax.matching(_FLAGS, _ENDPOINTS, _FIELDS, among=among)
    modules = frozenset((*flags, *endpoints))
    read = read_flags(syntax, flags)
    unread = tuple(_unread(syntax, flags, declaring, read))
    return Offered(syntax.paths, read, read_endpoints(syntax, endpoints), modules, unread)


def _unread(
    syntax: Syntax, with_flags: Iterable[str], declaring: Iterable[str], read: Iterable[Offer]
) -> Iterator[Finding]:
    """Yield classes with fields as a module that makes flags of fields wants them, none of which
    was read.
    """
    trees = ((module, syntax.tree(module)) for module in with_flags)
    bodies = ((module, node) for module, tree in trees if tree is not None for node in tree.body)
    makers = {
        module
        for module, node in bodies
        if isinstance(node, Function) and node.name.startswith(_DERIVES)
    }
    seen = {(offer.module, offer.line) for offer in read}
    for module in declaring:
        known = (syntax.find(module, name) for name in (*_ANNOTATED, "Arg"))
        tree = syntax.tree(module)
        if tree is None or not any(found is not None and found[0] in makers for found in known):
            continue
        for node in (node for node in tree.body if isinstance(node, ast.ClassDef)):
            offers = [*_Reader(syntax, module).fields(node, f"{module}.{node.name}")]
            if offers and not any((module, offer.line) in seen for offer in offers):
                message = (
                    f"{len(offers)} fields of {node.name} are declared as flags, and no command "
                    "line was read of it"
                )
                yield Finding("interface", syntax.paths[module], node.lineno, message)


def read_flags(syntax: Syntax, modules: Iterable[str]) -> list[Offer]:
    """Return flags of the modules, positional arguments among them, in the order in which they
    stand; the subject is the first name.
    """
    found: list[Offer] = []
    for module in modules:
        if (tree := syntax.tree(module)) is not None:
            reader = _Reader(syntax, module)
            found += reader.block(tree.body, "", {})
            calls = (node for node in walk(tree) if isinstance(node, ast.Call))
            given = [
                arg
                for call in calls
                if last_name(call.func).startswith(_DERIVES)
                for arg in call.args
            ]
            derived = {arg.id for arg in given if isinstance(arg, ast.Name)}
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and node.name in derived:
                    for where, holder in _holders(syntax, module, tree, node):
                        found += _Reader(syntax, where).fields(holder, f"{module}.{node.name}")
    return found


def _holders(
    syntax: Syntax, module: str, tree: ast.Module, node: ast.ClassDef
) -> Iterator[tuple[str, ast.ClassDef]]:
    """Yield classes whose fields become flags of the command line that is made of a class, each
    with its module.

    The class itself, its bases, and those that a display of the module puts together:
    ``NAMESPACES = [Model, Memory]``, from which a class gets its fields when the module is loaded.
    """
    rows = (row.value for row in tree.body if isinstance(row, ast.Assign))
    named = (row.elts for row in rows if isinstance(row, ast.List | ast.Tuple))
    pending = [(module, node), *(each for names in named for each in syntax.classes(module, names))]
    seen: set[tuple[str, str]] = set()
    while pending:
        where, holder = pending.pop(0)
        if (where, holder.name) not in seen:
            seen.add((where, holder.name))
            yield where, holder
            pending += syntax.classes(where, holder.bases)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Of one module."""

    syntax: Syntax
    module: str

    def block(self, body: Iterable[ast.AST], owner: str, local: Locals) -> Iterator[Offer]:
        """Yield flags that calls below these pieces of syntax add, in a class or function of the
        module.
        """
        for node in body:
            match node:
                case ast.ClassDef():
                    yield from self.block(node.body, f"{owner}.{node.name}".strip("."), {})
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    # A method that adds flags and the fields of its class make one command line.
                    yield from self.block(node.body, owner or node.name, values_of(node.body))
                case ast.Call(func=ast.Attribute(attr="add_argument"), args=args):
                    if args and not any(isinstance(arg, ast.Starred) for arg in args):
                        where = f"{self.module}.{owner}" if owner else self.module
                        yield self._flag(node, where, tuple(map(_text, args)), _given(node), local)
                case _:
                    yield from self.block(children(node), owner, local)

    def fields(self, node: ast.ClassDef, where: str) -> Iterator[Offer]:
        """Yield flags of a command line that are made of the annotated fields of a class."""
        for row in node.body:
            match row:
                case ast.AnnAssign(
                    target=ast.Name(id=name),
                    annotation=ast.Subscript(slice=ast.Tuple(elts=[kind, *metadata])),
                ) if last_name(row.annotation) in _ANNOTATED:
                    arguments = [
                        p
                        for p in metadata
                        if isinstance(p, ast.Call) and last_name(p.func) == "Arg"
                    ]
                    helps = any(
                        isinstance(part, ast.Constant | ast.JoinedStr | ast.BinOp)
                        for part in metadata
                    )
                    given = {
                        **(_given(arguments[-1]) if arguments else {}),
                        "type": kind,
                        "default": row.value,
                    }
                    if not (arguments or helps) or _constant(given.get("no_cli")) is True:
                        continue
                    first = _constant(given.get("cli_name")) or "--" + name.replace("_", "-")
                    others = given.get("aliases")
                    aliases = (
                        map(_text, others.elts) if isinstance(others, ast.List | ast.Tuple) else ()
                    )
                    yield self._flag(row, where, (str(first), *aliases), given, {}, name)

    def _flag(
        self,
        node: ast.Call | ast.AnnAssign,
        where: str,
        names: tuple[str, ...],
        given: Mapping[str, ast.expr | None],
        local: Locals,
        attribute: str = "",
    ) -> Offer:
        chosen, action = given.get("choices"), given.get("action")
        if action is not None and last_name(action) == _OR_NOT:
            names = (*names, *(f"--no-{name[2:]}" for name in names if name.startswith("--")))
        others = (
            f"{k}={ast.unparse(v)}"
            for k, v in sorted(given.items())
            if v is not None and k not in _OWN
        )
        texts = (
            "" if value is None else ast.unparse(value) for value in (chosen, given.get("default"))
        )
        return Offer(
            group=where,
            subject=names[0],
            names=names,
            parts=(
                *zip(("choices", "default"), texts, strict=True),
                ("", ", ".join((*names[1:], *others))),
            ),
            choices=None if chosen is None else choices_of(self.syntax, self.module, chosen, local),
            attribute=attribute or str(_constant(given.get("dest")) or ""),
            module=self.module,
            where=where,
            line=node.lineno,
            end_line=node.end_lineno or node.lineno,
        )


def _given(call: ast.Call) -> dict[str, ast.expr | None]:
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}


def _text(node: ast.expr) -> str:
    return (
        node.value
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        else ast.unparse(node)
    )


def _constant(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def choices_of(
    syntax: Syntax, module: str, node: ast.expr, local: Locals, depth: int = 0
) -> tuple[Choice, ...] | None:
    """Return the values in their order; None where the syntax does not tell all of them."""
    bound: tuple[str, ast.expr | ast.ClassDef] | None = None
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return tuple(Choice(ast.unparse(item), module, item.lineno) for item in items)
        case ast.Dict(keys=keys):
            written = [key for key in keys if key is not None]
            return choices_of(syntax, module, ast.List(written), local) if written == keys else None
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, other = (
                choices_of(syntax, module, part, local, depth + 1) for part in (left, right)
            )
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
            value = (
                values_of(found[1].body).get(name)
                if found and isinstance(found[1], ast.ClassDef)
                else None
            )
            bound = (found[0], value) if found and value is not None else None
    if bound is None or isinstance(bound[1], ast.ClassDef) or depth > _MOST_DEEP:
        return None
    return choices_of(syntax, bound[0], bound[1], local if bound[0] == module else {}, depth + 1)


def read_endpoints(syntax: Syntax, modules: Iterable[str]) -> list[Offer]:
    """Endpoints of the modules, sorted: one method of one path each, whichever function of the
    module answers. Their names are method, path and the environment variable that names the path,
    whose default that is then. ``*`` is a method or path that the code computes; the path is empty
    where only the environment names it. The first line is that of the first decorator.
    """
    trees = ((module, tree) for module in modules if (tree := syntax.tree(module)) is not None)
    functions = (
        (module, node)
        for module, tree in trees
        for node in walk(tree)
        if isinstance(node, Function)
    )
    return sorted(
        offer for module, node in functions for offer in _of_function(syntax, module, node)
    )


def _of_function(syntax: Syntax, module: str, node: Function) -> Iterator[Offer]:
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(attr=verb), args=args) if verb in _VERBS:
                first = next(
                    (k.value for k in decorator.keywords if k.arg == "path"),
                    args[0] if args else None,
                )
                if first is None or (place := _path(syntax, module, first)) is None:
                    continue
                path, environment = place
                named = (path or "(no default)") + (
                    f" or what {environment} names" if environment else ""
                )
                for method in [verb.upper()] if verb != "api_route" else _methods(decorator):
                    yield Offer(
                        group=module,
                        subject=f"{method} {named}",
                        names=(method, path, environment),
                        module=module,
                        where=f"{module}.{node.name}",
                        line=node.decorator_list[0].lineno,
                        end_line=node.end_lineno or node.lineno,
                    )


def _methods(call: ast.Call) -> list[str]:
    match next((k.value for k in call.keywords if k.arg == "methods"), None):
        case None:
            return ["GET"]
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            texts = [item.value for item in items if isinstance(item, ast.Constant)]
            if len(texts) == len(items):
                return sorted({str(text).upper() for text in texts})
    return ["*"]


def _path(syntax: Syntax, module: str, node: ast.expr) -> tuple[str, str] | None:
    """Return path and environment variable; None for what is no path (``@cache.get("name")``)."""
    match node:
        case ast.Constant(value=str(text)):
            return (text, "") if text.startswith("/") or text == "" else None
        case ast.Call(func=function, args=[ast.Constant(value=str(name))]) if _is_environment(
            function
        ):
            return "", name
        case ast.Call(
            func=function, args=[ast.Constant(value=str(name)), ast.Constant(value=str(default))]
        ) if _is_environment(function) and default.startswith("/"):
            return default, name
        case ast.Name(id=name) if (bound := syntax.find(module, name)) is not None:
            where, value = bound
            return (
                ("*", "")
                if isinstance(value, ast.Name | ast.ClassDef)
                else _path(syntax, where, value)
            )
        case ast.Name() | ast.JoinedStr():
            return "*", ""
    return None


def _is_environment(function: ast.expr) -> bool:
    return ast.unparse(function).endswith(("environ.get", "getenv"))
