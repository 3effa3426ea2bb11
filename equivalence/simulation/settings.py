"""What a simulated process is told, through its environment."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Self

SWITCH = "SHRINKER_SIMULATE"
"""Environment variable that holds the settings as JSON; without it `sitecustomize` does nothing."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The device that a simulated process sees."""

    capability: tuple[int, int] = (9, 0)
    """Compute capability: (9, 0) Hopper, (10, 0) Blackwell."""
    devices: int = 1
    memory: int = 4 << 30
    """Bytes of memory that each device says it has."""
    log: str = ""
    """Folder for what is called (`calls`); empty: nothing is written."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of distributions that are not installed, by normalised name: what upstream declares.
    """
    executed: str = ""
    """Folder for the lines that are executed (`executed`); empty: none are followed."""
    followed: str = ""
    """Folder of the files whose lines are."""
    counted: str = ""
    """Folder for how much is done (`events`); empty: nothing is counted."""

    def to_text(self) -> str:
        """JSON, for the environment variable."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read it back.

        Raises ValueError, KeyError or TypeError for a text that `to_text` did not write.
        """
        data = json.loads(text)
        return cls(**{**data, "capability": tuple(data["capability"])})


def current() -> Settings:
    """Return settings of this process; the defaults where it was given none."""
    text = os.environ.get(SWITCH, "")
    return Settings.from_text(text) if text else Settings()
