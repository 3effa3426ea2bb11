"""A phase in a process of its own: the memory that it took goes with it."""

from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar, cast

from shrinker.cache.workers import Tell, run_in_child
from shrinker.pipeline.progress import Progress
from shrinker.values.errors import ShrinkerError

Result = TypeVar("Result")


def apart(call: Callable[[Progress], Result], progress: Progress) -> Result:
    """The result of a call that is made in another process.

    Args:
        call: what to call; its result has to be picklable.
        progress: told here what the call tells.

    Raises:
        ShrinkerError: the process was killed.
    """
    with run_in_child(lambda tell: call(Told(tell))) as child:
        for message in child.hear():
            name, arguments = cast(tuple[str, tuple[object, ...]], message)
            getattr(progress, name)(*arguments)
        try:
            return child()
        except BrokenProcessPool as error:
            raise ShrinkerError(
                "the process that decides what stays was killed (often: out of memory)", "run again with fewer JOBS"
            ) from error


class Told(Progress):
    """Hands on what is told."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell

    def phase(self, name: str) -> None:
        """A phase begins."""
        self._tell(("phase", (name,)))

    def note(self, line: str) -> None:
        """One line that a person should know."""
        self._tell(("note", (line,)))

    def advance(self, done: int, total: int | None) -> None:
        """How far the phase is."""
        self._tell(("advance", (done, total)))
