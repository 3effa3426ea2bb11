"""How reports are rendered, and how each gets into its place."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shrinker.source.cache import replacing
from shrinker.values.errors import InputError

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"
SHARED = Path(__file__).parent / "page"
"""Style and script of every page for a browser."""


def templates(folder: Path = _TEMPLATES, *, escaped: bool = False) -> "Environment":
    """Templates of a folder, `escaped` for HTML, with filters for numbers, cells of a Markdown table and code in one."""
    from shrinker.emit.package import environment

    found = environment(folder, SHARED, escaped=escaped)
    found.filters["n"] = lambda number: f"{number:,}"
    found.filters["cell"] = cell
    found.filters["code"] = lambda text: f"`{cell(text)}`" if text else ""
    return found


def cell(text: object) -> str:
    """One cell of a Markdown table: a line end or a bar would end it."""
    return " ".join(str(text).split()).replace("|", "\\|")


def some(rows: Sequence[str], most: int = 4) -> tuple[str, ...]:
    """The first ones, and how many more there are."""
    return (*rows[:most], f"and {len(rows) - most} more") if len(rows) > most else tuple(rows)


def readable(data: object, *, ordered: bool = True) -> str:
    """JSON for people: indented, and by the order of the keys unless theirs says something."""
    return json.dumps(data, indent=1, sort_keys=ordered) + "\n"


def write_files(folder: Path, texts: Mapping[str, str | bytes]) -> None:
    """Write files beside those that they replace, and rename: a reader sees the old file or the new one.

    The folder is made if it is not there. Raises InputError when it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            with replacing(folder / name) as new:
                new.write_bytes(text.encode() if isinstance(text, str) else text)
                new.chmod(0o644)
    except OSError as error:
        message = f"{folder}: reports cannot be written: {error}"
        raise InputError(message, "free space or choose a writable folder") from error


def render(name: str, **values: Any) -> str:
    """A page of `templates/`."""
    return templates().get_template(name).render(values)
