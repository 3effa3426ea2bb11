"""HTTP endpoints: functions that a decorator files under a path."""

import ast
import re
from collections.abc import Iterable, Iterator

from shrinker.program.interface.offers import Offer
from shrinker.program.interface.syntax import Syntax
from shrinker.syntax.walk import Function, walk

_VERBS = ("get", "post", "put", "delete", "patch", "head", "options", "api_route", "websocket")
WORDS = re.compile(rb"^[ \t]*@[\w.]+\.(?:%s)\(" % "|".join(_VERBS).encode(), re.MULTILINE)
"""What a module with endpoints writes."""


def read_endpoints(syntax: Syntax, modules: Iterable[str]) -> list[Offer]:
    """Endpoints of the modules, sorted: one method of one path each, whichever function of the module answers.

    Their names are method, path and the environment variable that names the path, whose default that is then. ``*`` is a method or path
    that the code computes; the path is empty where only the environment names it. The first line is that of the first decorator.
    """
    trees = ((module, tree) for module in modules if (tree := syntax.tree(module)) is not None)
    functions = ((module, node) for module, tree in trees for node in walk(tree) if isinstance(node, Function))
    return sorted(offer for module, node in functions for offer in _of_function(syntax, module, node))


def _of_function(syntax: Syntax, module: str, node: Function) -> Iterator[Offer]:
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(attr=verb), args=args) if verb in _VERBS:
                first = next((k.value for k in decorator.keywords if k.arg == "path"), args[0] if args else None)
                if first is None or (place := _path(syntax, module, first)) is None:
                    continue
                path, environment = place
                named = (path or "(no default)") + (f" or what {environment} names" if environment else "")
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
    """Path and environment variable; None for what is no path (``@cache.get("name")``)."""
    match node:
        case ast.Constant(value=str(text)):
            return (text, "") if text.startswith("/") or text == "" else None
        case ast.Call(func=ast.Attribute(attr="get") as function, args=[ast.Constant(value=str(name)), *rest]) if (
            ast.unparse(function.value).endswith("environ")
        ):
            return _default(name, rest)
        case ast.Call(func=ast.Name(id="getenv") | ast.Attribute(attr="getenv"), args=[ast.Constant(value=str(n)), *r]):
            return _default(n, r)
        case ast.Name(id=name) if (bound := syntax.find(module, name)) is not None:
            where, value = bound
            return ("*", "") if isinstance(value, ast.Name | ast.ClassDef) else _path(syntax, where, value)
        case ast.Name() | ast.JoinedStr():
            return "*", ""
    return None


def _default(name: str, rest: list[ast.expr]) -> tuple[str, str] | None:
    match rest:
        case []:
            return "", name
        case [ast.Constant(value=str(text))] if text.startswith("/"):
            return text, name
    return None
