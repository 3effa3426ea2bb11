"""What can go wrong when edits are applied: always a fault of shrinker itself, never of the input."""

from __future__ import annotations

from shrinker.values.edits import Edit


class RewriteError(RuntimeError):
    """An edit that cannot be written as Python; the message names line and column of the file."""


class UnappliedEdit(RewriteError):
    """An edit whose node the file does not have, outside of every dropped region."""

    def __init__(self, edit: Edit) -> None:
        span = edit.span
        super().__init__(f"line {span.line}, column {span.col}: no node to apply {edit!r} to")
        self.edit = edit

    def __reduce__(self) -> tuple[type[UnappliedEdit], tuple[Edit]]:
        # It travels between processes.
        return type(self), (self.edit,)
