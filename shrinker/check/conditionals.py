"""What a compiler reads of native sources in which some macros are not defined, and lines of bodies that went beside that.

Tests are read as Python's, with `and` for ``&&``: whoever decides what goes has a grammar of C++.
"""

import ast
import re
from collections.abc import Collection

_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(ifdef|ifndef|if|elif|else|endif)\b((?:\\\r?\n|[^\n])*)", re.MULTILINE)
_DEFINED = re.compile(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))")
_COMMENT = re.compile(r"//.*|/\*.*?\*/|\\\r?\n", re.DOTALL)
_SIGNS = ("&&", " and "), ("||", " or ")
_NOT = re.compile(r"!(?!=)")
_SCOPE = re.compile(rb'\b(?:namespace\b[^;{}()]*|extern\s*""\s*|(?:\w*TORCH_LIBRARY\w*|\w*MODULE)\s*\([^{}]*)\Z')
"""What stands before the brace of a block whose statements go one by one."""


def as_compiled(data: bytes, undefined: Collection[str]) -> bytes:
    """The text without the arms that no build reads and the tests that are always true, line for line; as it is where its groups do not close.

    Args:
        data: a C, C++ or CUDA source.
        undefined: macros that no build defines.
    """
    if not any(name.encode() in data for name in undefined):
        return data
    rows = data.split(b"\n")
    stack: list[list[tuple[int, bool | None]]] = []
    blank: set[int] = set()
    for match in _DIRECTIVE.finditer(data):
        kind, row = match.group(1).decode(), data.count(b"\n", 0, match.start(1))
        if kind.startswith("if"):
            stack.append([])
        elif not stack:
            return data
        if kind != "endif":
            stack[-1].append((row, _verdict(kind, match.group(2).decode("utf-8", "replace"), undefined)))
            continue
        arms = stack.pop()
        verdicts = [verdict for _, verdict in arms]
        decided = None not in verdicts[: verdicts.index(True)] if True in verdicts else None not in verdicts
        for at, (start, verdict) in enumerate(arms):
            end = arms[at + 1][0] if at + 1 < len(arms) else row
            if verdict is False or True in verdicts[:at]:
                blank.update(range(start, end))
            elif decided:
                blank.add(start)
        blank.update({row} if decided else ())
    return data if stack else b"\n".join(b"" if number in blank else text for number, text in enumerate(rows))


def _verdict(kind: str, test: str, undefined: Collection[str]) -> bool | None:
    if kind == "else":
        return True
    text = _COMMENT.sub(" ", test).strip()
    if kind in ("ifdef", "ifndef"):
        text = f"{'!' * (kind == 'ifndef')}defined({text})"
    text = _DEFINED.sub(lambda found: f" {found[1] or found[2]} ", text)
    for sign, word in _SIGNS:
        text = text.replace(sign, word)
    try:
        return _truth(ast.parse(_NOT.sub(" not ", text).strip(), mode="eval").body, undefined)
    except SyntaxError:
        return None


def _truth(test: ast.expr, undefined: Collection[str]) -> bool | None:
    match test:
        case ast.Name(id=name):
            return False if name in undefined else None
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            value = _truth(operand, undefined)
            return None if value is None else not value
        case ast.BoolOp(op=operator, values=values):
            found = {_truth(value, undefined) for value in values}
            deciding = isinstance(operator, ast.Or)
            return deciding if deciding in found else None if None in found else not deciding
    return None


def lines_of_bodies(theirs: bytes, gone: Collection[int]) -> list[int]:
    """Lines that went from a body which stays: from 0.

    Args:
        theirs: upstream's text, without texts and comments, without what no build reads.
        gone: its lines that the generated file has not, from 0.

    Returns:
        None of a text whose braces do not close.
    """
    found: list[int] = []
    opened: list[tuple[int, bool]] = []
    before = b""
    for number, row in enumerate(theirs.split(b"\n")):
        if number in gone and row.strip(b" \t\r;}") and opened:
            at, divisible = opened[-1]
            if at not in gone and not divisible:
                found.append(number)
        for part in re.split(rb"([{}])", row):
            if part == b"{":
                opened.append((number, _SCOPE.search(before[-400:]) is not None))
            elif part == b"}":
                if not opened:
                    return []
                opened.pop()
            before = b"" if part in (b"{", b"}") else before + part
        before += b"\n"
    return [] if opened else found
