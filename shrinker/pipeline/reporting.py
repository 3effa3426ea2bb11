"""Reports that are written beside the evidence."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import replace

from shrinker.cache import Cache
from shrinker.cache.workers import forked
from shrinker.report.write import Begun
from shrinker.values.errors import ShrinkerError


class Reporting:
    """Reports that do not wait for the evidence: written beside it, or in what time the processes of that leave."""

    def __init__(self, begin: Callable[[Cache], Begun], cache: Cache, stack: ExitStack, *, alone: bool) -> None:
        """
        Args:
            begin: writes the reports.
            cache: of this run.
            stack: ends the process.
            alone: whether they get a process of their own.
        """
        self._cache = cache
        self._begin = begin
        self._begun: Begun | None = None
        self._wait: Callable[[], Begun] | None = None
        if alone:
            self._wait = stack.enter_context(forked(lambda: begin(cache.uncounted())))

    def go_on(self) -> None:
        """Write them here, unless they are being written or were."""
        if self._wait is None and self._begun is None:
            self._begun = self._begin(self._cache)

    def begun(self) -> Begun:
        """What is written, all of it.

        Raises:
            InputError: the folder cannot be written.
            ShrinkerError: the process was killed.
        """
        self.go_on()
        if self._begun is not None:
            return self._begun
        assert self._wait is not None, "otherwise they were written here"
        try:
            found = self._wait()
        except BrokenProcessPool as error:
            raise ShrinkerError(
                "the process that wrote the reports was killed (often: out of memory)",
                "nothing was replaced; run again with JOBS=1",
            ) from error
        self._cache.add(found.cache.counts)
        self._begun = replace(found, cache=self._cache)
        return self._begun
