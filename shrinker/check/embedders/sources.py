"""The Python that a program outside consists of: the files of a wheel, or the files, notebooks and documents of a folder."""

from __future__ import annotations

import json
import os
import re
import textwrap
import zipfile
from collections.abc import Iterator
from pathlib import Path

_MAX_BYTES = 2**24
_FENCED = re.compile(r"^([ \t]*)```[ \t]*(?:python|py)\b[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL | re.IGNORECASE)
_MAGIC = re.compile(r"^[ \t]*[%!].*$", re.MULTILINE)
"""What IPython understands and Python does not."""
_OTHERS = frozenset({".git", ".venv", "__pycache__", "node_modules", "site-packages"})
"""Folders that are not the program's own."""


def sources_of(place: Path) -> Iterator[tuple[str, bytes]]:
    """Path and text of each, sorted by path.

    In a folder, code of a Markdown document keeps its lines, each block by itself; a notebook's cells are one file.

    Raises:
        zipfile.BadZipFile: it is no folder, and no wheel.
    """
    if place.is_dir():
        yield from _folder(place)
        return
    with zipfile.ZipFile(place) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(".py") and archive.getinfo(name).file_size <= _MAX_BYTES:
                yield name, archive.read(name)


def _folder(place: Path) -> Iterator[tuple[str, bytes]]:
    for folder, inner, names in os.walk(place):
        inner[:] = sorted(set(inner) - _OTHERS)
        for name in sorted(names):
            file = Path(folder, name)
            if file.suffix in (".py", ".ipynb", ".md", ".mdx") and file.is_file() and file.stat().st_size <= _MAX_BYTES:
                path = file.relative_to(place).as_posix()
                if file.suffix == ".py":
                    yield path, file.read_bytes()
                    continue
                text = file.read_text("utf-8", "replace")
                for code in _cells(text) if file.suffix == ".ipynb" else _blocks(text):
                    yield path, code.encode()


def _cells(text: str) -> Iterator[str]:
    try:
        cells = json.loads(text)["cells"]
        found = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError):
        return
    yield _MAGIC.sub("", "\n".join(found))


def _blocks(text: str) -> Iterator[str]:
    for match in _FENCED.finditer(text):
        yield "\n" * text.count("\n", 0, match.start(2)) + _MAGIC.sub("", textwrap.dedent(match[2]))
