"""What upstream itself uses nowhere but in classes of which it makes no instance: what such code
reads and stores has no effect there either.

A feature that upstream merges in parts stands there before anything makes its objects. Names are
told apart by their last part.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache as remembered

from shrinker.syntax.names import is_special, last_name
from shrinker.syntax.parsing import parsed
from shrinker.syntax.walk import Function, children, functions, walk
from shrinker.values.upstream import UpstreamTree

_ELSEWHERE = ""
"""Who uses a name where that is not a class of a module's own level."""
_TESTS = frozenset({"isinstance", "issubclass"})


class Users:
    """Asks upstream's text, and nothing that was decided of it."""

    def __init__(self, upstream: UpstreamTree) -> None:
        self._upstream = upstream
        self._users = remembered(self._find)
        self._named = remembered(self._is_named)

    def used(self, name: str) -> bool:
        """Tell whether any code but that of unused classes uses a class, or one below it, or a
        method: not to import it, to test for it or as a type. A class is taken for used where a
        decorator, a keyword or one of its bases may file it.
        """
        reached, waiting = {name}, [name]
        while waiting:
            users = self._users(waiting.pop())
            if _ELSEWHERE in users:
                return True
            waiting += users - reached
            reached |= users
        return False

    def idle(self, method: str) -> bool:
        """Tell whether nobody calls a method: others may call a public one, Python one with a
        special name.
        """
        return method.startswith("_") and not is_special(method) and not self.used(method)

    def has_effect(self, path: str, lines: Iterable[int]) -> bool:
        """Tell whether one of these lines of a file stands elsewhere than in a class that is not
        used, and in a folder that is named.
        """
        classes = [
            node
            for node in _statements(self._upstream.read(path))
            if isinstance(node, ast.ClassDef)
        ]
        around = (
            [c for c in classes if c.lineno <= line <= (c.end_lineno or line)] for line in lines
        )
        return self._named(path.rpartition("/")[0]) and any(
            all(self.used(c.name) for c in held) for held in around
        )

    def _is_named(self, folder: str) -> bool:
        """Tell whether a file beside a folder names it, in an import or a text; the package itself
        is named from outside.
        """
        name = folder.rpartition("/")[2]
        part = re.compile(rf"(?:^|[./]){re.escape(name)}(?:$|[./:])")
        texts = (text for path, text in self._texts(name) if not path.startswith(f"{folder}/"))
        return folder.count("/") == 1 or any(
            part.search(said) for text in texts for said in _imported_or_said(text)
        )

    def ever_stored(self, path: str, attribute: str) -> bool:
        """Tell whether an attribute that methods of a file store on ``self`` is stored elsewhere
        than in idle ones, or by any code on another object; what only adds to one has read it
        before.
        """
        bodies = (
            (other, _statements(text, f"_.{attribute} = 0"))
            for other, text in self._texts(attribute)
        )
        stored = (
            (other, *row)
            for other, body in bodies
            for row in _storing(ast.Module(body, []), attribute)
        )
        storing = [
            function for other, function, holder in stored if other == path or holder != "self"
        ]
        return not storing or not all(map(self.idle, storing))

    def naming(self, word: str) -> Iterator[str]:
        """Find the Python files of upstream that have a word."""
        return (path for path, _ in self._texts(word))

    def _texts(self, name: str) -> Iterator[tuple[str, bytes]]:
        """Python files that have the word."""
        word = re.compile(rf"\b{re.escape(name)}\b".encode())
        texts = (
            (path, self._upstream.read(path))
            for path in self._upstream.by_path
            if path.endswith(".py")
        )
        return ((path, text) for path, text in texts if word.search(text))

    def _filed(self, node: ast.ClassDef) -> bool:
        """Tell whether a class above it files those below, or somebody asks for all that are
        below one.
        """
        reached, waiting = {""}, [*map(last_name, node.bases)]
        while waiting:
            if (name := waiting.pop()) in reached:
                continue
            reached.add(name)
            for part in (
                part
                for _, text in self._texts(name)
                for node in _statements(text)
                for part in walk(node)
            ):
                if _files(name, part):
                    return True
                if isinstance(part, ast.ClassDef) and part.name == name:
                    waiting += map(last_name, part.bases)
        return False

    def _find(self, name: str) -> frozenset[str]:
        found = set[str]()
        for _, text in self._texts(name):
            for node in _statements(text, name):
                owner = node.name if isinstance(node, ast.ClassDef) else _ELSEWHERE
                if owner == name and isinstance(node, ast.ClassDef):
                    found |= (
                        {_ELSEWHERE}
                        if node.decorator_list or node.keywords or self._filed(node)
                        else set()
                    )
                elif any(_is(name, each) for each in _used(node)):
                    found.add(owner)
        return frozenset(found)


def _statements(text: bytes, otherwise: str = "") -> list[ast.stmt]:
    """Return what stands at a file's own level; of one that is no Python, what this text says."""
    return (parsed(text) or ast.parse(otherwise)).body


def _imported_or_said(text: bytes) -> Iterator[str]:
    """Yield names of imports and texts of a file; of one that is no Python all."""
    tree = parsed(text)
    if tree is None:
        yield from re.findall(r"[\w./:]+", text.decode("utf-8", "replace"))
        return
    for node in walk(tree):
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (alias.name for alias in names)
                yield (node.module or "") if isinstance(node, ast.ImportFrom) else ""
            case ast.Constant(value=str(said)):
                yield said


def _is(name: str, node: ast.AST) -> bool:
    match node:
        case ast.Name(id=said) | ast.Attribute(attr=said) | ast.alias(name=said, asname=str()):
            return said == name
        case ast.Constant(value=str(said)):
            return name in re.split(r"\W", said)
    return False


def _files(name: str, node: ast.AST) -> bool:
    """Tell whether it asks for all that are below a class, or is the class and is told of them."""
    match node:
        case ast.Call(func=called, args=[_, asked]):
            return last_name(called) == "issubclass" and any(
                _is(name, each) for each in walk(asked)
            )
        case ast.Attribute(attr="__subclasses__", value=asked):
            return last_name(asked) == name
        case ast.ClassDef(name=said):
            return said == name and any(
                each.name == "__init_subclass__" for each in functions(node)
            )
    return False


def _used(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the node and what stands below it, without types, documentation, names for ``import *``
    and second arguments of tests.
    """
    yield node
    parts = list(children(node))
    match node:
        case (
            ast.arg()
            | ast.Expr(value=ast.Constant())
            | ast.Assign(targets=[ast.Name(id="__all__")])
        ):
            parts = []
        case ast.AnnAssign(annotation=said):
            parts.remove(said)
        case (
            ast.FunctionDef(returns=ast.expr() as said)
            | ast.AsyncFunctionDef(returns=ast.expr() as said)
        ):
            parts.remove(said)
        case ast.Call(func=called, args=[asked, _]) if last_name(called) in _TESTS:
            parts = [asked]
    for part in parts:
        yield from _used(part)


def _storing(node: ast.AST, attribute: str, function: str = "") -> Iterator[tuple[str, str]]:
    """Outermost functions that store an attribute, nothing outside of these, and of what."""
    if (
        isinstance(node, ast.Attribute)
        and node.attr == attribute
        and isinstance(node.ctx, ast.Store)
    ):
        yield function, last_name(node.value)
    inner = function or (node.name if isinstance(node, Function) else "")
    for part in [node.value] if isinstance(node, ast.AugAssign) else children(node):
        yield from _storing(part, attribute, inner)
