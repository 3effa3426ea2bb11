"""The lines of a generated tree that end a run which asks for something removed: the look at an argument where a
function begins, and the guard of imports where the package begins.

They call functions of a file that shrinker writes into the tree, `sglang/removed_features.py`, which holds
the table of what is refused. `fold` places the line, `emit` writes the file, `verify` knows both.
"""

from shrinker.values.edits import Guard, Refuse

MODULE = "sglang.removed_features"
FILE = "removed_features.py"
"""Path below the package."""


GUARD_LINE = f"from {MODULE} import guard as _guard; _guard()"
"""Starts to look at imports."""


def refusal_line(edit: Refuse | Guard) -> str:
    """The statements of the line that an edit inserts, without indentation."""
    if isinstance(edit, Guard):
        return GUARD_LINE
    return f'from {MODULE} import refuse; refuse("{edit.place}", {edit.argument})'
