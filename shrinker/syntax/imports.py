"""Import statements: which module each names from where it stands, what it loads and binds, and when it runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from shrinker.values.summary import Loaded

Import = ast.Import | ast.ImportFrom

CERTAIN, PERHAPS, NEVER = "certain", "perhaps", "never"
"""Whether importing the module runs an import: always, in a branch, or only for a type checker."""
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def absolute(module: str | None, level: int, package: str) -> str:
    """The dotted name that an import statement means.

    Args:
        module: as it is written after ``from``; None where only dots are.
        level: number of dots before it (`ast.ImportFrom.level`).
        package: the package that relative imports start from: a package itself, or the one around a module.
    """
    if not level:
        return module or ""
    base = package.split(".")
    base = base[: len(base) - (level - 1)]
    return ".".join([*base, module] if module else base)


def package_of(module: str, is_package: bool) -> str:
    """The package that relative imports of a module start from."""
    return module if is_package else module.rpartition(".")[0]


def bound_name(node: Import, alias: ast.alias) -> str:
    """The name that an import binds."""
    return alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0])


def loads(node: Import, package: str) -> list[tuple[Loaded, ...]]:
    """What each name of an import loads: the module, and what may be a module in it."""
    if isinstance(node, ast.Import):
        return [(Loaded(alias.name),) for alias in node.names]
    source = absolute(node.module, node.level, package)
    whole = (Loaded(source),)
    return [whole if a.name == "*" else (*whole, Loaded(f"{source}.{a.name}", True)) for a in node.names]


def module_imports(body: list[ast.stmt], runs: str = CERTAIN) -> Iterator[tuple[Import, str]]:
    """Imports of the module level and of its branches, but for those whose failure a handler waits for."""
    for node in body:
        match node:
            case ast.ImportFrom(module="__future__"):
                pass
            case ast.Import() | ast.ImportFrom():
                yield node, runs
            case ast.If(test=test):
                branch = NEVER if is_type_checking(test) else PERHAPS
                yield from module_imports(node.body, max(runs, branch, key=(CERTAIN, PERHAPS, NEVER).index))
                yield from module_imports(node.orelse, max(runs, PERHAPS, key=(CERTAIN, PERHAPS, NEVER).index))
            case ast.Try() if not any(catches_import_error(h) for h in node.handlers):
                yield from module_imports(node.body, max(runs, PERHAPS, key=(CERTAIN, PERHAPS, NEVER).index))


def is_type_checking(test: ast.expr) -> bool:
    """True for ``TYPE_CHECKING`` and ``typing.TYPE_CHECKING``."""
    return "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))


def catches_import_error(handler: ast.ExceptHandler) -> bool:
    """True when an `except` clause catches ImportError."""
    if handler.type is None:
        return True
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(t, ast.Name) and t.id in _IMPORT_ERRORS for t in types)
