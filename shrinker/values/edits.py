"""The closed list of edits: everything that `emit` may do to a file, decided by `fold`.

A span names a node of the ORIGINAL file's `ast`: 1-based lines, 0-based UTF-8 byte columns, as
`ast` gives them. Edits only delete, dedent or simplify; `Literal`, `Raise`, `Refuse` and `Guard` add the
few tokens that `check/allowances.py` lists.
"""

from dataclasses import dataclass

MODULE = "sglang.removed_features"
FILE = "removed_features.py"
"""What shrinker writes into the tree, with the table of what is refused; its path below the package."""
GUARD_LINE = f"from {MODULE} import guard as _guard; _guard()"
"""Starts to look at imports."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Position of an `ast` node in the original file."""

    line: int
    col: int
    end_line: int
    end_col: int

    @property
    def after(self) -> "Span":
        """Where it ends."""
        return Span(self.end_line, self.end_col, self.end_line, self.end_col)


@dataclass(frozen=True, slots=True)
class DropStatement:
    """Delete a whole statement (decorators included). An emptied block receives `pass`."""

    span: Span


@dataclass(frozen=True, slots=True)
class DropTail:
    """Delete the statement at `span` and all that follow it in the same block (dead code)."""

    span: Span


@dataclass(frozen=True, slots=True)
class TakeBlock:
    """Replace a compound statement by one of its blocks, dedented into its place.

    `block` is ``body`` or ``orelse`` of an `if`/`while`; ``body`` or ``handler:<n>`` of a `try`.
    On an `elif` arm, ``body`` makes it the chain's `else`, ``orelse`` removes the arm and leaves what follows.
    On an `if` whose ``orelse`` is an `elif`, that `elif` becomes the `if`.
    """

    span: Span
    block: str


@dataclass(frozen=True, slots=True)
class DropBlock:
    """Delete one clause of a compound statement: ``orelse`` or ``handler:<n>``."""

    span: Span
    block: str


@dataclass(frozen=True, slots=True)
class Raise:
    """Replace a statement, and all that follow it in its block, by the named error of a removed feature."""

    span: Span
    message: str
    error: str = "RuntimeError"
    """Name of the builtin exception: `RuntimeError`, or what upstream itself would raise (`ImportError`, `AttributeError`)."""


@dataclass(frozen=True, slots=True)
class Literal:
    """Replace an expression by ``True``, ``False``, ``None``, or the text that a `[[default]]` rule gives (with its quotes)."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class TakeOperand:
    """Replace an expression by one of its direct children.

    `child` is a field of the `ast` node: ``body`` or ``orelse`` of a ternary, ``value`` of a subscript.
    """

    span: Span
    child: str


@dataclass(frozen=True, slots=True)
class DropElement:
    """Delete one element of a list: an operand of `and`/`or`, an element of a tuple, list, set or dict
    (span of the value), a class base, a decorator, a comprehension's `if`, the annotation of a parameter or return value, one name of
    an import that keeps others."""

    span: Span
    container: str
    """``BoolOp``, ``Tuple``, ``List``, ``Set``, ``Dict``, ``ClassDef``, ``decorator``, ``comprehension``, ``annotation``, ``returns`` or
    ``alias``."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """Insert, on a line of its own before a statement, the look at an argument that ends a run which asks for
    something removed. Like `Guard` it replaces nothing."""

    span: Span
    """Of the statement that it stands before, which begins its line."""
    place: str
    """Qualified name of the function that looks."""
    argument: str
    """The parameter that it looks at."""


@dataclass(frozen=True, slots=True)
class Guard:
    """Insert, on a line of its own before a statement, the guard of imports: it replaces nothing."""

    span: Span
    """Of the statement that it stands before, which begins its line."""


Edit = DropStatement | DropTail | TakeBlock | DropBlock | Raise | Literal | TakeOperand | DropElement | Refuse | Guard


def refusal_line(edit: Refuse | Guard) -> str:
    """The statements of the line that `Refuse` or `Guard` inserts, without indentation: `fold` places it, `verify` knows it."""
    if isinstance(edit, Guard):
        return GUARD_LINE
    return f'from {MODULE} import refuse; refuse("{edit.place}", {edit.argument})'
