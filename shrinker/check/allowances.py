"""The closed list of what a generated tree may hold that upstream does not: everything else is only
deleted.

Each allowance says where it may stand; `subsequence` counts how often a tree used it. All but the
header, the refusal, the comma and the parentheses REPLACE something: at least one upstream token
disappears in their place.
"""

import ast
import json
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, takewhile
from typing import NamedTuple

from shrinker.syntax.imports import absolute_written
from shrinker.values.edits import FILE as REFUSALS_FILE
from shrinker.values.edits import GUARD_LINE, Refuse, Span, refusal_line
from shrinker.values.relations import grouped

OWN_FILES = frozenset(
    {f"{folder}{name}" for folder in ("", "python/") for name in ("LICENSE", "NOTICE", "README.md")}
    | {"python/pyproject.toml", "python/sglang/_version.py", f"python/sglang/{REFUSALS_FILE}"}
)
"""Files that shrinker writes itself; upstream may have a file of the same name."""

LITERALS = ("True", "False", "None")
NAMES = (
    HEADER := "header comment",
    PASS := "pass",
    *LITERALS,
    IF_FOR_ELIF := "if for elif",
    ELSE_FOR_ELIF := "else for elif",
    NAMED_ERROR := "named error",
    LOADING := "import of a module alone",
    DEFAULT := "default that a rule replaces",
    REFUSAL := "refusal of a removed feature",
    GUARD := "guard of imports",
    ONE_TUPLE_COMMA := "comma of a one-tuple",
    PARENTHESES := "grouping parentheses",
)
"""All of them, in the order in which they are reported."""

_FOR_ELIF = {"if": IF_FOR_ELIF, "else": ELSE_FOR_ELIF}
RAISE = "\0raise"
"""Stands for the tokens of `raise RuntimeError("shrinker: ...")` in `Allowed`."""

ERRORS = frozenset({"AttributeError", "ImportError", "ModuleNotFoundError", "RuntimeError"})
"""The named error is a RuntimeError, or the error that upstream would raise for what is not
installed.
"""

ERROR_PREFIX = "shrinker: "
_HEADER = re.compile(r"#.*\bshrinker\b", re.IGNORECASE)


def header_of(lines: Sequence[Sequence[str]]) -> int | None:
    """Index of the one-line provenance header (Apache-2.0 section 4b), None where a file has none:
    it is the first line, or stands below comments that Python reads first: the interpreter line and
    the declaration of the encoding, which may stand below another comment.
    """
    comments = takewhile(lambda tokens: len(tokens) == 1 and tokens[0].startswith("#"), lines[:3])
    return next((index for index, tokens in enumerate(comments) if _HEADER.match(tokens[0])), None)


_REFUSAL = tuple(
    re.findall(r'"[^"]*"|[\w]+|[^\w\s]', refusal_line(Refuse(Span(0, 0, 0, 0), "", "_")))
)
"""Tokens of the line, in which the name of the function and the argument are open."""


def is_refusal(tokens: Sequence[str]) -> bool:
    """True for the line that looks at an argument for something removed; it is inserted, whole."""
    return len(tokens) == len(_REFUSAL) and all(
        {'""': ours[:1] == ours[-1:] == '"', "_": ours.isidentifier()}.get(theirs, ours == theirs)
        for ours, theirs in zip(tokens, _REFUSAL, strict=True)
    )


GUARD_TOKENS = tuple(re.findall(r"\w+|[^\w\s]", GUARD_LINE))
"""The line that starts to look at imports; it is inserted, whole and once a file."""
Defaults = Mapping[str, frozenset[str]]
"""Tokens that rules put in place of upstream's defaults, and the tokens each may replace."""


def loaded_alone(tokens: Sequence[str]) -> str:
    """Return the module that a line imports and does nothing else; empty for another line.

    >>> loaded_alone(("import", "package", ".", "module", "# noqa"))
    'package.module'
    """
    if tokens[0] != "import":
        return ""
    said = [text for text in tokens[1:] if not text.startswith("#")]
    return "".join(said) if all(text == "." or text.isidentifier() for text in said) else ""


def named_from(tokens: Sequence[str], package: str) -> str:
    """Return the module from which a line imports names; empty for another line.

    Args:
        tokens: those of the line.
        package: the package that relative names are below.
    """
    if tokens[0] != "from" or "import" not in tokens or tokens[-1] == "*" or ";" in tokens:
        return ""
    return absolute_written("".join(tokens[1 : tokens.index("import")]), package)


def default_tokens(pairs: Iterable[tuple[str, str]]) -> Defaults:
    """Return the tokens of replaced texts: of upstream's and of what takes over, pairs of the
    manifest.
    """
    tokens = grouped(
        (json.dumps(after), (json.dumps(before), repr(before))) for before, after in pairs
    )
    return {after: frozenset(chain.from_iterable(before)) for after, before in tokens.items()}


def _collapse_named_error(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Write the named error, where it ends the line as a statement of its own, as the one token
    `RAISE`.
    """
    if "raise" not in tokens:
        return tokens
    # The comment of its line may stand after it.
    end = len(tokens) - tokens[-1].startswith("#")
    for start in (index for index, text in enumerate(tokens) if text == "raise"):
        match tokens[start:end]:
            case [_, error, "(", *said, ")"] if error in ERRORS and (
                not start or tokens[start - 1] in {":", ";"}
            ):
                try:
                    text = ast.literal_eval(f"({' '.join(said)})")
                except (ValueError, SyntaxError):
                    return tokens
                if isinstance(text, str) and text.startswith(ERROR_PREFIX):
                    return (*tokens[:start], RAISE, *tokens[end:])
    return tokens


def is_named_error(node: ast.stmt) -> bool:
    """True for the statement that raises the named error."""
    match node:
        case ast.Raise(exc=ast.Call(args=[ast.Constant(value=str(text))])):
            return text.startswith(ERROR_PREFIX)
    return False


def error_target(node: ast.stmt) -> list[str]:
    """Return names of what a named error says is not there, from the package inwards; none for
    another statement.
    """
    found = re.search(
        rf"{re.escape(ERROR_PREFIX)}(?:the program )?([\w.]+) is not part", ast.unparse(node)
    )
    return found[1].split(".") if found else []


class Allowed(NamedTuple):
    """A generated line, and what its tokens may be but upstream's own, by their index."""

    tokens: tuple[str, ...]
    """With `RAISE` in place of a named error."""
    replace: dict[int, str]
    """Allowances by which one stands in place of upstream tokens."""
    insert: dict[int, str]
    """The same of what nothing disappears for."""
    needed: frozenset[str]
    """Tokens that must be upstream's."""
    defaults: Defaults


def allowed(line: tuple[str, ...], defaults: Defaults) -> Allowed:
    """Return what a generated line may hold."""
    tokens = _collapse_named_error(line)
    replace = {
        index: name for index in range(len(tokens)) if (name := _replacing(tokens, index, defaults))
    }
    insert = _inserted(tokens)
    needed = frozenset(
        text for index, text in enumerate(tokens) if index not in replace and index not in insert
    )
    return Allowed(tokens, replace, insert, needed, defaults)


def _replacing(tokens: Sequence[str], index: int, defaults: Defaults) -> str | None:
    text = tokens[index]
    if text in LITERALS:
        return text
    if text == RAISE:
        return NAMED_ERROR
    if text in defaults:
        return DEFAULT
    if text == PASS and (index == 0 or tokens[index - 1] in {":", ";"}):
        return PASS if all(t.startswith("#") for t in tokens[index + 1 :]) else None
    return _FOR_ELIF.get(text) if index == 0 else None


def _inserted(tokens: Sequence[str]) -> dict[int, str]:
    """Indices that may be inserted without anything disappearing: the comma of ``(x,)``, grouping
    parentheses.
    """
    found: dict[int, str] = {}
    opened: list[tuple[int, bool, list[int]]] = []
    for index, text in enumerate(tokens):
        if text in {"(", "[", "{"}:
            opened.append((index, text == "(" and not _is_operand(tokens, index - 1), []))
        elif text == "," and opened:
            opened[-1][2].append(index)
        elif text in {")", "]", "}"} and opened:
            start, groups, commas = opened.pop()
            if not groups or index == start + 1:
                continue
            if not commas:
                found[start] = found[index] = PARENTHESES
            elif commas == [index - 1]:
                found[index - 1] = ONE_TUPLE_COMMA
    return found


def _is_operand(tokens: Sequence[str], index: int) -> bool:
    """Tell whether a parenthesis after this token is a call, a class's bases or parameters, not a
    group.
    """
    if index < 0:
        return False
    text, last = tokens[index], tokens[index][-1]
    if last.isalnum() or last == "_":
        return not keyword.iskeyword(text) or text in LITERALS
    return last in ")]}\"'" and not text.startswith("#")
