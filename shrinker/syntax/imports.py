"""Import statements: which module each names from where it stands, and what it binds."""

import ast
import sys
from collections.abc import Iterable

from shrinker.values.upstream import enclosing

Import = ast.Import | ast.ImportFrom

_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def absolute(module: str | None, level: int, package: str) -> str:
    """Return the dotted name that an import statement means, of which `ast` tells module and level
    (number of dots), where relative ones start from a package: itself, or the one around a module.
    """
    if not level:
        return module or ""
    base = package.split(".")
    base = base[: len(base) - (level - 1)]
    return ".".join([*base, module] if module else base)


def absolute_written(name: str, package: str) -> str:
    """Return the same of a name with the dots before it."""
    bare = name.lstrip(".")
    return absolute(bare, len(name) - len(bare), package)


def package_of(module: str, is_package: bool) -> str:
    """Return the package that relative imports of a module start from."""
    return module if is_package else module.rpartition(".")[0]


def with_packages(names: Iterable[str]) -> frozenset[str]:
    """Return modules, by dotted name, with the packages around each."""
    return frozenset(each for name in names for each in (name, *enclosing(name)))


def bound_name(node: Import, alias: ast.alias) -> str:
    """Return the name that an import binds."""
    return alias.asname or (
        alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0]
    )


def names_of(node: Import, package: str) -> list[tuple[str, str, str]]:
    """Return module, name in it (empty for the module itself, ``*`` for all names) and what is
    bound, of each name of an import.
    """
    if isinstance(node, ast.Import):
        return [(alias.name, "", bound_name(node, alias)) for alias in node.names]
    source = sys.intern(absolute(node.module, node.level, package))
    return [(source, alias.name, bound_name(node, alias)) for alias in node.names]


def is_type_checking(test: ast.expr) -> bool:
    """True for ``TYPE_CHECKING`` and ``typing.TYPE_CHECKING``."""
    return "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))


def catches_import_error(handler: ast.ExceptHandler) -> bool:
    """Tell whether an `except` clause catches ImportError."""
    if handler.type is None:
        return True
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(t, ast.Name) and t.id in _IMPORT_ERRORS for t in types)
