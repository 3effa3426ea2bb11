"""Places in the syntax that tell what a leftover is for."""

import ast
from collections.abc import Set

from shrinker.check.allowances import is_named_error
from shrinker.syntax.names import attribute_chain, last_name
from shrinker.values.leftovers import Position

_MESSAGE_METHODS = frozenset(
    {"debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print"}
)
_MESSAGE_WORDS = frozenset(
    {"log", "logger", "logging", "warn", "warning", "warnings", "print", "console"}
)
BY_KEYWORD: dict[str | None, Position] = {"choices": "choices"}
BY_KEYWORD |= dict.fromkeys(("help", "description", "epilog"), "help-text")
"""Place of the strings in the value of a keyword; others have an ordinary one."""
_PROBES = frozenset({"hasattr", "find_spec", "import_module", "__import__"})
GROWING = frozenset({"append", "extend", "add", "update", "insert"})
"""Methods that add something to a list or set."""
_STICKY: frozenset[Position] = frozenset(
    {"named-error", "message", "help-text", "choices", "exports", "annotation", "probe"}
)
"""Within these a string keeps the place of the whole, however deep it stands."""
_TENSOR_ATTRIBUTES = frozenset(
    {"is_cuda", "is_cpu", "is_xpu", "is_mps", "is_hpu", "is_npu", "is_musa"}
)
_FIELDS: dict[Position, tuple[str, ...]] = {
    "test": ("test", "subject", "guard", "ifs"),
    "message": ("msg",),
    "comparison": ("pattern",),
    "assignment": ("target", "targets"),
    "value": ("iter",),
    "annotation": ("annotation", "returns"),
    "argument": ("bases", "keywords"),
    "default": ("defaults", "kw_defaults"),
}
_BY_FIELD = {field: place for place, fields in _FIELDS.items() for field in fields}
"""Places of the fields of a statement or expression, wherever that stands."""


def place_within(node: ast.AST, field: str, child: ast.AST, place: Position) -> Position:
    """Return the place of what a piece of syntax holds, by its own."""
    # What is asked for which words to show is shown.
    if field in _BY_FIELD and not (isinstance(node, ast.IfExp) and place == "message"):
        return _BY_FIELD[field]
    match node:
        case ast.Raise():
            return "named-error" if is_named_error(node) else "message"
        case ast.Assign(targets=targets):
            return _assigned_value(targets)
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return _assigned_value([target])
        case ast.stmt() | ast.Lambda():
            return "value"
        case _ if place in _STICKY:
            return place
        case ast.Compare():
            return (
                "tensor-device"
                if any(map(_is_device, (node.left, *node.comparators)))
                else "comparison"
            )
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
    if (last in _MESSAGE_METHODS or words & {"log", "print", "warn"}) and (
        words & _MESSAGE_WORDS or last == "print"
    ):
        return "message"
    if last in _PROBES:
        return "probe"
    if last in GROWING and len(names) > 1 and names[-2].endswith("_CHOICES"):
        return "choices"
    return "test" if place == "test" else "argument"


def _assigned_value(targets: list[ast.expr]) -> Position:
    """Place of the strings in an assigned value."""
    for name in map(last_name, targets):
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
    # `t.device.type`, `device.type`: only torch.device has a type; `args.device` may be a setting
    # of the server.
    owner = last_name(node.value) if isinstance(node, ast.Attribute) and node.attr == "type" else ""
    return owner == "device" or owner.endswith("_device")


def is_tensor_attribute(node: ast.Attribute, imported: Set[str]) -> bool:
    """True for an attribute that tensors have, read of something that is no module (a name that is
    `imported`), no platform object and not `self`.
    """
    if node.attr not in _TENSOR_ATTRIBUTES or "platform" in ast.unparse(node.value).lower():
        return False
    owner: ast.expr = node.value
    while isinstance(owner, ast.Attribute | ast.Call | ast.Subscript):
        owner = owner.func if isinstance(owner, ast.Call) else owner.value
    own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
    return not own and not (isinstance(owner, ast.Name) and owner.id in imported)
