"""A page in a real browser, without a window and without a network."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.small import read_archive

_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=8000",
    "--dump-dom",
]
_BEFORE, _AFTER = read_archive(Path(__file__).with_suffix(".txtar")).values()


def ask(page: str, folder: Path, width: int, script: str) -> dict[str, Any]:
    """What a page shows in a window of a width.

    Args:
        page: its text.
        folder: made for the browser.
        script: fills ``seen``. `wrong`, the errors, and `wide`, how far the page is wider than its
            window, are added.

    Returns:
        The content of ``seen``. Skips the test on a machine without a browser.
    """
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium on this machine")
    folder.mkdir()
    asked = page.replace("<script id", _BEFORE + "<script id", 1) + _AFTER.replace("%s", script)
    (folder / "page.html").write_text(asked, "utf-8")
    places = [
        f"--user-data-dir={folder / 'home'}",
        f"--window-size={width},1000",
        f"file://{folder}/page.html",
    ]
    done = subprocess.run(
        [browser, *_FLAGS, *places], capture_output=True, text=True, timeout=120, check=False
    )
    found = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stderr[-2000:]
    result: dict[str, Any] = json.loads(html.unescape(found[1]))
    return result
