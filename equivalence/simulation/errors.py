"""The error of what the simulation cannot do, raised inside the simulated process."""

from __future__ import annotations


class SimulationError(RuntimeError):
    """Something was called that has no reference, or that no longer looks as its reference expects.

    Args:
        message: what was called, and where.
        next_step: what to do about it.
    """

    def __init__(self, message: str, next_step: str) -> None:
        super().__init__(f"simulation: {message}; {next_step}")
