"""Places in the syntax that tell what a leftover is for."""

import ast
from collections.abc import Set

from shrinker.check.allowances import is_named_error
from shrinker.syntax.names import attribute_chain, last_name
from shrinker.values.leftovers import Position

_MESSAGE_METHODS = frozenset({"debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print"})
_MESSAGE_WORDS = frozenset({"log", "logger", "logging", "warn", "warning", "warnings", "print", "console"})
BY_KEYWORD: dict[str | None, Position] = {
    "help": "help-text",
    "description": "help-text",
    "epilog": "help-text",
    "choices": "choices",
}
"""Place of the strings in the value of a keyword; others have an ordinary one."""
_PROBES = frozenset({"hasattr", "find_spec", "import_module", "__import__"})
_GROWING = frozenset({"append", "extend", "add", "update", "insert"})


_STICKY: frozenset[Position] = frozenset(
    {"named-error", "message", "help-text", "choices", "exports", "annotation", "probe"}
)
"""Within these a string keeps the place of the whole, however deep it stands."""
_TENSOR_ATTRIBUTES = frozenset({"is_cuda", "is_cpu", "is_xpu", "is_mps", "is_hpu", "is_npu", "is_musa"})
_ALWAYS: dict[tuple[type[ast.AST], str], Position] = {
    (ast.If, "test"): "test",
    (ast.While, "test"): "test",
    (ast.Assert, "test"): "test",
    (ast.Assert, "msg"): "message",
    (ast.Match, "subject"): "test",
    (ast.match_case, "pattern"): "comparison",
    (ast.match_case, "guard"): "test",
    (ast.comprehension, "target"): "assignment",
    (ast.comprehension, "iter"): "value",
    (ast.comprehension, "ifs"): "test",
    (ast.Lambda, "body"): "value",
    (ast.Assign, "targets"): "assignment",
    (ast.AnnAssign, "target"): "assignment",
    (ast.AugAssign, "target"): "assignment",
    (ast.AnnAssign, "annotation"): "annotation",
    (ast.arg, "annotation"): "annotation",
    (ast.FunctionDef, "returns"): "annotation",
    (ast.AsyncFunctionDef, "returns"): "annotation",
    (ast.ClassDef, "bases"): "argument",
    (ast.ClassDef, "keywords"): "argument",
    (ast.arguments, "defaults"): "default",
    (ast.arguments, "kw_defaults"): "default",
}
"""Places of the fields of a statement or expression, wherever that stands."""


def place_within(node: ast.AST, field: str, child: ast.AST, place: Position) -> Position:
    """The place of what a piece of syntax holds, by its own."""
    if (found := _ALWAYS.get((type(node), field))) is not None:
        return found
    match node:
        case ast.Raise():
            return "named-error" if is_named_error(node) else "message"
        case ast.Assign(targets=targets):
            return _assigned_value(targets)
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return _assigned_value([target])
        case ast.stmt():
            return "value"
        case _ if place in _STICKY:
            return place
        case ast.Compare():
            return "tensor-device" if any(map(_is_device, (node.left, *node.comparators))) else "comparison"
        case ast.List() | ast.Tuple() | ast.Set():
            return "element" if place in ("value", "argument", "default", "key") else place
        case ast.Dict():
            return "key" if field == "keys" else "value"
        case ast.Subscript() if field == "slice":
            return "key"
        case ast.UnaryOp(op=ast.Not()):
            return "test"
        case ast.BoolOp() if child is not node.values[-1]:
            # The operands of a condition are conditions; of a value only all but the last.
            return "test"
    return place


def call_arguments(node: ast.Call, place: Position) -> Position:
    """Place of the strings in the arguments of a call, by its own."""
    root, parts = attribute_chain(node.func)
    names = (*((root.id,) if isinstance(root, ast.Name) else ()), *parts)
    last = names[-1] if names else ""
    words = {word for name in names for word in name.lower().split("_")}
    if place in _STICKY:
        return place
    if (last in _MESSAGE_METHODS or words & {"log", "print", "warn"}) and (words & _MESSAGE_WORDS or last == "print"):
        return "message"
    if last in _PROBES:
        return "probe"
    if last in _GROWING and len(names) > 1 and names[-2].endswith("_CHOICES"):
        return "choices"
    return "test" if place == "test" else "argument"


def chosen(node: ast.If) -> tuple[str, ast.Call] | None:
    """Of a statement that adds something to a list where an attribute of an object says so, and does nothing else: the object's
    name, and the call; None for any other."""
    match node:
        case ast.If(
            test=ast.Attribute(value=ast.Name(id=name)),
            body=[ast.Expr(value=ast.Call(func=ast.Attribute(attr=method)) as call)],
            orelse=[],
        ) if method in _GROWING:
            return name, call
    return None


def _assigned_value(targets: list[ast.expr]) -> Position:
    """Place of the strings in an assigned value."""
    for name in map(_own_name, targets):
        if name == "__all__":
            return "exports"
        if name.upper().endswith("_CHOICES"):
            return "choices"
    return "value"


def annotated(generic: ast.expr, item: ast.expr) -> Position:
    """Place of a further argument of a generic type: prose that describes the field, or a type."""
    text = item.value if isinstance(item, ast.Constant) else ""
    described = isinstance(text, str) and " " in text.strip()
    return "help-text" if described and last_name(generic) != "Literal" else "annotation"


def _is_device(node: ast.expr) -> bool:
    # `t.device.type`, `device.type`: only torch.device has a type; `args.device` may be a setting of the server.
    owner = _own_name(node.value) if isinstance(node, ast.Attribute) and node.attr == "type" else ""
    return owner == "device" or owner.endswith("_device")


def _own_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def is_tensor_attribute(node: ast.Attribute, imported: Set[str]) -> bool:
    """True for an attribute that tensors have, read of something that is no module (a name that is `imported`), no platform object and not `self`."""
    if node.attr not in _TENSOR_ATTRIBUTES:
        return False
    owner: ast.expr = node.value
    names: list[str] = []
    while isinstance(owner, ast.Attribute | ast.Call | ast.Subscript):
        if isinstance(owner, ast.Attribute):
            names.append(owner.attr)
        owner = owner.func if isinstance(owner, ast.Call) else owner.value
    if not isinstance(owner, ast.Name):
        return not any("platform" in name for name in names)
    if owner.id in ("self", "cls") and isinstance(node.value, ast.Name):
        return False
    return owner.id not in imported and not any("platform" in name.lower() for name in (*names, owner.id))
