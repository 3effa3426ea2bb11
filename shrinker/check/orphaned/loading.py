"""What importing a module of the tree runs: the modules that it loads, and the first thing it does beyond defining."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator

from shrinker.check.orphaned.sources import Sources

_HARMLESS_CALLS = frozenset(
    {"getLogger", "TypeVar", "ParamSpec", "frozenset", "set", "dict", "list", "tuple", "namedtuple", "field", "auto"}
    | {"compile", "escape", "cast"}
)
_HARMLESS_DECORATORS = frozenset(
    {"abstractmethod", "cache", "cached_property", "classmethod", "contextmanager", "dataclass", "final", "lru_cache"}
    | {"no_type_check", "overload", "override", "property", "runtime_checkable", "staticmethod", "total_ordering"}
    | {"setter", "getter", "deleter", "wraps"}
)
_QUIET_BASES = frozenset(
    {"ABC", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "Generic", "NamedTuple", "Protocol", "TypedDict", "object"}
    | {"Exception", "RuntimeError", "ValueError", "TypeError", "str", "int", "dict", "list", "tuple"}
)


class Loading:
    """Answers for one generated tree."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._direct: dict[str, frozenset[str]] = {}

    def loaded(self, path: str, without: ast.stmt | None) -> frozenset[str]:
        """Everything that the module level of a file certainly loads.

        Args:
            path: the file.
            without: an import of it that is taken to be gone.
        """
        # Whoever runs the file has loaded the packages around it; one that loads the file itself may load the rest later.
        around = {*_with_packages(self._sources.name(path) or "")}
        found = {*around, *self._closure(self._names(path, without), path)}
        for name in around:
            reached = self._closure([name], path)
            found |= reached if self._sources.name(path) not in reached else set()
        return frozenset(found)

    def _closure(self, names: Iterable[str], path: str) -> set[str]:
        """These modules and all that they load, but for what the file at this path does."""
        seen: set[str] = set()
        stack = [*names]
        while stack:
            name = stack.pop()
            if name in seen:
                continue
            seen.add(name)
            target = self._sources.modules.get(name)
            if target is not None and target != path:
                stack.extend(self.direct(target))
        return seen

    def direct(self, path: str) -> frozenset[str]:
        """Modules that the module level of a file itself certainly loads, packages around them included."""
        if path not in self._direct:
            self._direct[path] = frozenset(self._names(path, None))
        return self._direct[path]

    def _is_in_cycle(self, name: str) -> bool:
        """True when loading a module asks for the module again before it is there."""
        seen: set[str] = set()
        stack = [name]
        while stack:
            path = self._sources.modules.get(stack.pop())
            for inner in self.direct(path) if path is not None else ():
                if inner == name and path != self._sources.modules[name]:
                    return True
                if inner not in seen and inner in self._sources.modules:
                    seen.add(inner)
                    stack.append(inner)
        return False

    def _names(self, path: str, without: ast.stmt | None) -> Iterator[str]:
        for node in self._sources.tree(path).body:
            if node is without:
                continue
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from _with_packages(alias.name)
            elif isinstance(node, ast.ImportFrom):
                source = self._sources.source(node, path)
                yield from _with_packages(source)
                yield from (f"{source}.{a.name}" for a in node.names if f"{source}.{a.name}" in self._sources.modules)

    def effect(self, module: str, loaded: frozenset[str], importer: str) -> str | None:
        """What loading a module does, in words; None when it only defines.

        Args:
            module: dotted name.
            loaded: modules that are loaded anyway.
            importer: dotted name of the module that imports it.
        """
        for name in _with_packages(module):
            # A package around the importer is being loaded already.
            if not f"{importer}.".startswith(f"{name}.") and self._is_in_cycle(name):
                return (
                    f"importing {module} loads {name}, which is in a cycle of modules: they may load in one order only"
                )
        seen: set[str] = set()
        queue = list(reversed(list(_with_packages(module))))
        while queue:
            name = queue.pop(0)
            if name in seen or name in loaded:
                continue
            seen.add(name)
            path = self._sources.modules.get(name)
            if path is None:
                top = name.partition(".")[0]
                inside = any(m == top for m in self._sources.modules)
                if not inside and top not in sys.stdlib_module_names and top != "__future__":
                    return f"importing {module} loads {name}, which is outside the tree and may do anything"
                continue
            line = first_effect(self._sources.tree(path).body)
            if line:
                return f"importing {module} runs {path}:{line}"
            queue.extend(sorted(self.direct(path)))
        return None


def first_effect(body: list[ast.stmt]) -> int:
    """Line of the first statement that does more than define, 0 when there is none."""
    for node in body:
        if not _defines(node):
            return node.lineno
    return 0


def _defines(node: ast.stmt) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return all(map(_only_wraps, node.decorator_list)) and _calls_nothing(node.args)
        case ast.ClassDef():
            return (
                all(map(_only_wraps, node.decorator_list))
                and all(_last(base) in _QUIET_BASES for base in node.bases)
                and all(_last(keyword.value) == "ABCMeta" for keyword in node.keywords)
                and not first_effect(node.body)
            )
        case ast.Assign(targets=targets, value=value):
            return all(isinstance(t, ast.Name) for t in targets) and _calls_nothing(value)
        case ast.AnnAssign(target=ast.Name(), value=value):
            return value is None or _calls_nothing(value)
        case ast.If(test=test, orelse=[]):
            return _last(test) == "TYPE_CHECKING"
    return False


def _only_wraps(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return _last(called) in _HARMLESS_DECORATORS


def _calls_nothing(node: ast.AST) -> bool:
    return all(_last(part.func) in _HARMLESS_CALLS for part in ast.walk(node) if isinstance(part, ast.Call))


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _with_packages(name: str) -> Iterator[str]:
    """The module, then the packages around it, from the inside out."""
    while name:
        yield name
        name = name.rpartition(".")[0]
