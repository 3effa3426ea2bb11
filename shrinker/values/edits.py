"""The closed list of edits: everything that `emit` may do to a file, decided by `fold`.

A span names a node of the ORIGINAL file's `ast`: 1-based lines, 0-based UTF-8 byte columns, as
`ast` gives them. Edits only delete, dedent or simplify; `Literal`, `LoadModule`, `Raise`, `Refuse`
and `Guard` add the few tokens that `check/allowances.py` lists.
"""

from dataclasses import dataclass

MODULE = "sglang.removed_features"
FILE = "removed_features.py"
"""What shrinker writes into the tree, with the table of what is refused; its path below the
package.
"""
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
class Edit:
    """One of those below."""

    span: Span


@dataclass(frozen=True, slots=True)
class DropStatement(Edit):
    """Delete a whole statement (decorators included). An emptied block receives `pass`."""


@dataclass(frozen=True, slots=True)
class DropTail(Edit):
    """Delete the statement at `span` and all that follow it in the same block (dead code)."""


@dataclass(frozen=True, slots=True)
class TakeBlock(Edit):
    """Replace a compound statement by one of its blocks, dedented into its place.

    `block` is ``body`` or ``orelse`` of an `if`/`while`; ``body`` or ``handler:<n>`` of a `try`;
    ``case:<n>`` of a `match`. On an `elif` arm, ``body`` makes it the chain's `else`, ``orelse``
    removes the arm and leaves what follows. On an `if` whose ``orelse`` is an `elif`, that `elif`
    becomes the `if`.
    """

    block: str


@dataclass(frozen=True, slots=True)
class DropElse(Edit):
    """Delete the `else` of a compound statement."""


@dataclass(frozen=True, slots=True)
class Raise(Edit):
    """Replace a statement, and all that follow it in its block, by the named error of a removed
    feature.
    """

    message: str
    error: str = "RuntimeError"
    """Name of the builtin exception: `RuntimeError`, or what upstream itself would raise
    (`ImportError`, `AttributeError`).
    """


@dataclass(frozen=True, slots=True)
class LoadModule(Edit):
    """Replace an import of names, none of which is used, by one of their module alone.

    ``from package.module import Name`` becomes ``import package.module``: what loading it does
    stays.
    """

    module: str
    """Dotted name of the module, absolute."""


@dataclass(frozen=True, slots=True)
class Literal(Edit):
    """Replace an expression by ``True``, ``False``, ``None``, or the text that a `[[default]]` rule
    gives (with its quotes).
    """

    text: str


@dataclass(frozen=True, slots=True)
class TakeOperand(Edit):
    """Replace an expression by one of its direct children.

    `child` is a field of the `ast` node: ``body`` or ``orelse`` of a ternary, ``value`` of a
    subscript.
    """

    child: str


@dataclass(frozen=True, slots=True)
class DropElement(Edit):
    """Delete one element of a list: an operand of `and`/`or`, an element of a tuple, list, set or
    dict (span of the value), a class base, a decorator, a comprehension's `if`, the annotation of a
    parameter or return value, one name of an import that keeps others.
    """


@dataclass(frozen=True, slots=True)
class Refuse(Edit):
    """Insert, where `Guard` does, the look at an argument that ends a run which asks for something
    removed.
    """

    place: str
    """Qualified name of the function that looks."""
    argument: str
    """The parameter that it looks at."""


@dataclass(frozen=True, slots=True)
class Guard(Edit):
    """Insert the guard of imports on a line of its own, before a statement that begins its line: it
    replaces nothing.
    """


def refusal_line(edit: Refuse | Guard) -> str:
    """Return the statements of the line that `Refuse` or `Guard` inserts, without indentation:
    `fold` places it, `verify` knows it.
    """
    if isinstance(edit, Guard):
        return GUARD_LINE
    return f'from {MODULE} import refuse; refuse("{edit.place}", {edit.argument})'


@dataclass(frozen=True, slots=True, order=True)
class Cut:
    """Lines that go of a file that is no Python, from 1: nothing else can be judged by reading."""

    first: int
    last: int
    what: str
    """One phrase: what they said."""
    rules: tuple[str, ...] = ()
    """Rules by which they go; none when nothing reaches them."""
