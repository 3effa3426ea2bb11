"""Errors that name what a person needs: the place, the rule and the next step."""


class ShrinkerError(Exception):
    """A failure that the command line prints without a traceback.

    Args:
        message: what is wrong, one sentence, naming file, line and rule where there are any.
        next_step: what to do about it.
    """

    exit_code = 2

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step


class InputError(ShrinkerError):
    """Bad usage or bad input: unknown version, missing commit, broken rule file … (exit 2)."""


class EvidenceError(ShrinkerError):
    """The generated tree failed its evidence; nothing was replaced (exit 1)."""

    exit_code = 1
