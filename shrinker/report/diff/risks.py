"""What no static analysis proves: new places where code computes what it names, runs or loads.

Only files that differ are read. A site counts as new when its definition had no such text before, wherever in the file it stands now.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator

from shrinker.report.diff.pair import Pair
from shrinker.report.diff.values import Reason, Row
from shrinker.syntax.parsing import parsed
from shrinker.syntax.walk import children

_LOADS = {
    "import_module": "imports a computed module",
    "__import__": "imports a computed module",
    "entry_points": "reads entry points of installed packages",
    "iter_modules": "walks a package",
    "walk_packages": "walks a package",
    "spec_from_file_location": "loads a module from a file",
    "exec": "runs a text",
    "eval": "evaluates a text",
    "load_inline": "compiles native code",
    "load_jit": "compiles native code",
    "dynamic_import": "imports a computed module",
    "getmembers": "looks at all members of an object",
    "__subclasses__": "asks for all subclasses",
    "resolve_obj_by_qualname": "looks a dotted name up",
}
"""Last component of what is called, and what that does."""
_LOOKS = {"getattr", "setattr", "hasattr", "delattr", "attrgetter", "methodcaller"}
_UNPICKLES = {"loads", "load"}
_SPACES = {"globals", "locals", "vars"}
_OPERATORS = {"register_custom_op", "direct_register_custom_op", "custom_op", "register_fake", "impl"}

_WORDS = re.compile("|".join([*_LOADS, *_LOOKS, *_SPACES, *_OPERATORS, "pickle", "__getattr__"]).encode())


def mechanism_changes(pair: Pair) -> Iterator[Row]:
    """New sites of dynamic mechanisms in the new tree."""
    for path, one, other in pair.differing():
        if other is None or not path.endswith(".py"):
            continue
        reason = Reason("reach", "the file is new in the tree" if one is None else "the file kept less before")
        if one is not None and pair.upstream_changed(path):
            reason = pair.changed_by(path)
        known = Counter(site[:3] for site in _sites(pair.old.read(path)))
        for kind, owner, text, line in _sites(pair.new.read(path)):
            if known[kind, owner, text]:
                known[kind, owner, text] -= 1
            else:
                yield Row(text, kind, after=owner, path=path, line=line, reason=reason)


def _sites(data: bytes) -> list[tuple[str, str, str, int]]:
    """Mechanism, definition around it, text and line."""
    tree = parsed(data) if _WORDS.search(data) else None
    pending: list[tuple[ast.AST, str]] = [(tree, "")] if tree is not None else []
    found: list[tuple[str, str, str, int]] = []
    while pending:
        node, owner = pending.pop()
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            owner = f"{owner}.{node.name}".strip(".")
            if node.name == "__getattr__":
                found.append(("answers for names that are not there", owner, "__getattr__", node.lineno))
        elif isinstance(node, ast.Call) and (kind := _mechanism(node)):
            found.append((kind, owner, ast.unparse(node)[:120], node.lineno))
        pending += [(child, owner) for child in children(node)]
    return sorted(found, key=lambda row: row[3])


def _mechanism(node: ast.Call) -> str:
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
    # `model.eval()` evaluates no text.
    if name in _LOADS and not (name in ("eval", "exec") and receiver is not None):
        fixed = name in ("import_module", "__import__") and node.args and isinstance(node.args[0], ast.Constant)
        return "imports a module by its text" if fixed else _LOADS[name]
    if name in _LOOKS:
        at = 0 if name in ("attrgetter", "methodcaller") else 1
        computed = len(node.args) > at and not isinstance(node.args[at], ast.Constant)
        return f"computed {name}" if computed else ""
    if name in _SPACES and receiver is None and not node.args:
        return f"{name}()"
    if name in _UNPICKLES and isinstance(receiver, ast.Name) and "pickle" in receiver.id:
        return "unpickles"
    if name in _OPERATORS and node.args:
        return "registers an operator"
    return ""
