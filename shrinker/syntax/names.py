"""What expressions are called, and which names code reads."""

import ast
import re
from textwrap import dedent

from shrinker.syntax.parsing import parsed
from shrinker.syntax.walk import walk

_WORDS = re.compile(r"\w+")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_FIELD_SIGNS = frozenset("{%$")
_FIELD = re.compile(r"\{(\w*(?:\.\w+|\[[^\[\]{}]*\])*)(?=[}!:])|%\(([^()]*)\)|\$\{?([A-Za-z_]\w*)")
"""What `str.format`, ``%`` with a mapping and `string.Template` look up."""
_CODE_SIGNS = frozenset("(=")
_DEFINING = re.compile(r"^[ \t]*(?:async[ \t]+def|class|def)[ \t].*:[ \t]*$", re.MULTILINE)
_LONGEST = 200
"""Characters: a longer string is no annotation and names nothing."""


def is_special(name: str) -> bool:
    """True for a name that Python itself looks up."""
    return name.startswith("__") and name.endswith("__")


def is_private(name: str) -> bool:
    """Tell whether a name is one that its own package alone is meant to use: `_run`, not `__run`
    nor `__init__`.
    """
    return name.startswith("_") and not name.startswith("__")


def dotted(node: ast.AST) -> str:
    """``a.b.c`` of names and attributes; empty for anything else."""
    root, names = attribute_chain(node)
    return ".".join([root.id, *names]) if isinstance(root, ast.Name) else ""


def attribute_chain(node: ast.AST) -> tuple[ast.AST, tuple[str, ...]]:
    """Root of an attribute chain and the names below it; ``a.b().c.d`` has the root ``a.b()``."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return node, tuple(reversed(names))


def written(node: ast.expr) -> str:
    """Return a name as it is written: ``self.device``; only its end where it hangs on something
    else than a name.
    """
    if isinstance(node, ast.Attribute):
        return f"{written(node.value)}.{node.attr}".removeprefix(".")
    return node.id if isinstance(node, ast.Name) else ""


def last_name(node: ast.expr) -> str:
    """Return last name of a dotted expression, its subscripts left out; empty for any other."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return (
        node.attr
        if isinstance(node, ast.Attribute)
        else node.id
        if isinstance(node, ast.Name)
        else ""
    )


def first_name(node: ast.expr) -> str:
    """Return first name of a dotted expression, its subscripts left out; empty for any other."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def assigned(node: ast.stmt) -> tuple[ast.expr, ast.expr] | tuple[None, None]:
    """Return the target of an assignment that has one alone, and what it gets; of any other
    statement nothing.
    """
    match node:
        case (
            ast.Assign(targets=[target], value=value)
            | ast.AnnAssign(target=target, value=ast.expr() as value)
        ):
            return target, value
    return None, None


def words_of(node: ast.AST) -> tuple[set[str], set[str]]:
    """Return names in some code; and names, attributes and strings that are an identifier."""
    names: set[str] = set()
    others: set[str] = set()
    for part in walk(node):
        match part:
            case ast.Name(id=name):
                names.add(name)
            case ast.Attribute(attr=name):
                others.add(name)
            case ast.Constant(value=str() as text) if text.isidentifier():
                others.add(text)
            case ast.alias(name=name):
                others.add(name.rpartition(".")[2])
    return names, names | others


def reads_in(tree: ast.AST) -> set[str]:
    """Return names that the code below a node reads, or may read through a string: an annotation,
    an argument of `getattr`.
    """
    found: set[str] = set()
    documentation: set[ast.expr] = set()
    for node in walk(tree):
        match node:
            case ast.Name() if not isinstance(node.ctx, ast.Store):
                found.add(node.id)
            case ast.Global():
                found.update(node.names)
            case ast.Expr(value=ast.Constant()):
                # Parents come before what is in them.
                documentation.add(node.value)
            case ast.Constant(value=str() as text) if (
                len(text) < _LONGEST and node not in documentation
            ):
                found.update(_WORDS.findall(text))
    return found


_SETTING = re.compile(r"([A-Za-z_]\w*)[\"']?[ \t]*[=:]")


def names_in_settings(text: str) -> list[str]:
    """Find the names that a text may give values to: `"depth=1;path:x"` gives `depth` and `path`,
    `'{"use": 1}'` gives `use`, and `"--use-graph"`, which is an option, gives `use_graph`.
    """
    if text.startswith("--"):
        return spelled_otherwise(text)
    return _SETTING.findall(text)


_GIVEN = re.compile(
    r"(?:[=:\[,]|^[ \t]*-)[ \t]*[\"']?([A-Za-z_]\w*)[\"']?[ \t]*(?=[;,\]}\n]|$)", re.MULTILINE
)
_STEP = re.compile(r"^[ \t]*-[ \t]*([A-Za-z_]\w*)[ \t]*:", re.MULTILINE)


def names_in_values(text: str) -> list[str]:
    """Find the names that a text may give as values: `'{"method": "add"}'` gives `add`, `"first =
    load\\nrest: clean"` gives `load` and `clean`, and a list of steps, `"- load: {rows: 3}\\n-
    total"`, gives `load` and `total`.
    """
    return [*_GIVEN.findall(text), *_STEP.findall(text)]


def names_in_code(text: str) -> set[str]:
    """Find the names in a text of several lines that is Python code, or a template of a definition.

    `"for each in rows:\\n    total.add(each)"` gives `each`, `rows`, `total` and `add`.
    """
    found: set[str] = set()
    if "\n" not in text or _CODE_SIGNS.isdisjoint(text):
        return found
    tree = parsed(dedent(text).encode("utf-8", "replace"), "a text")
    if tree is None:
        for line in _DEFINING.findall(text):
            found.update(_IDENTIFIER.findall(line))
        return found
    for node in walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                found.add(name)
            case ast.alias(name=name):
                found.update(name.split("."))
    return found


def spelled_otherwise(text: str) -> list[str]:
    """Find names that code commonly makes of a text: `"dump-stats"` and `"--dump-stats"` give
    `dump_stats`, and `"POST"` gives `post`.
    """
    found = [text.removeprefix("--").replace("-", "_")] if "-" in text else []
    found += [each.lower() for each in (text, *found) if each.isupper()]
    return [name for name in found if name.isidentifier()]


def names_in_fields(text: str) -> list[str]:
    """Find the names that formatting with a text may look up.

    `"{0.depth} of {report[total].name:>{width}}"` gives `depth`, `report`, `total`, `name` and
    `width`; `"%(host)s"` gives `host`, and `"${port}"` gives `port`.
    """
    found: list[str] = []
    if _FIELD_SIGNS.isdisjoint(text):
        return found
    for row in _FIELD.findall(text):
        for field in row:
            found += _IDENTIFIER.findall(field)
    return found
