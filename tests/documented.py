"""Every command that README names, and how it runs in a clone of this checkout (`tests/clones.py`).

`make readme` runs all of them, `make test` the quick ones. A command that is new in README needs
its row in `documented.toml`.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

LISTINGS = ("dist/sglang_deepseek/", "reports/deepseek/")
"""First lines of blocks that list files and hold no command."""
_PROGRAMS = (
    "make ",
    ".venv/bin/",
    "shrinker ",
    "pip ",
    "python ",
    "PYTHONPATH=",
    "uv ",
    "uvx ",
    "pipx ",
    "docker ",
)
"""How a command begins that stands within a sentence."""


@dataclass(frozen=True)
class Row:
    """A command of README."""

    command: str
    instead: str = ""
    """What runs in its place."""
    why: str = ""
    """Why it does not run as it is written."""
    slow: bool = False
    """Only `make readme` runs it."""
    code: int = 0
    says: str = ""
    """Text of what it prints."""
    writes: Sequence[str] = ()
    """What of the repository it is there to write; all else is as before."""
    then: str = ""
    """What makes the tree again that later commands ask about."""
    env: Mapping[str, str] = field(default_factory=dict)


ROWS = tuple(
    Row(**row)
    for row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["row"]
)


def documented(text: str) -> list[str]:
    """The commands of a Markdown page, each once: lines of its code blocks, and what in a sentence
    begins with a program's name.
    """
    found: list[str] = []
    fenced = listing = False
    # Whether the line before ends a paragraph: an indented line begins a block there.
    free = True
    for line in text.splitlines():
        if line.startswith("```"):
            fenced, listing, free = not fenced, False, True
        elif not line.strip():
            listing, free = False, True
        elif fenced or (free and line.startswith("    ")):
            listing = listing or line.strip() in LISTINGS
            command = re.split(r"\s+#\s", line)[0].strip()
            if command and not listing and not command.startswith("#"):
                found.append(command)
        else:
            found += [span for span in re.findall(r"`([^`]+)`", line) if span.startswith(_PROGRAMS)]
            free = False
    return list(dict.fromkeys(found))
