"""Archives of tests/programs/symbols: lines that end with ``# gone`` go, and every other line stays.

Each archive has a `sglang/launch_server.py`, which runs the same in the tree that is left.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from shrinker.pipeline import analyse
from tests.fold.programs import make_tree, read_program, rewrite
from tests.pipeline.silent import Silent
from tests.program.symbols.support import ARCHIVES, small_rules

_GONE = re.compile(r"def (\w+)\(.*# gone$", re.MULTILINE)


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]


def _wanted(text: str) -> list[str]:
    return [line for line in _lines(text) if not line.endswith("# gone")]


def _names(texts: Iterable[str]) -> str:
    """A module that nothing reaches and that calls every function that goes: none is there for code outside alone."""
    return "\n".join(f"x.{name}()" for text in texts for name in _GONE.findall(text))


def _run(folder: Path) -> str:
    command = [sys.executable, "-c", "import sglang.launch_server as m; m.main()"]
    done = subprocess.run(
        command, cwd=folder / "python", capture_output=True, text=True, timeout=60, env={"PYTHONDONTWRITEBYTECODE": "1"}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_are_programs() -> None:
    assert len(ARCHIVES) > 10


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda p: p.stem)
def test_program(archive: Path, tmp_path: Path) -> None:
    files = {path: text for path, text in read_program(archive).files.items() if path.endswith(".py")}
    upstream, left = tmp_path / "upstream", tmp_path / "left"
    nobody = "python/sglang/nobody.py"
    tree = make_tree(upstream, {"python/sglang/srt/utils.py": "", nobody: _names(files.values()), **files})
    decided = analyse(tree, small_rules(tmp_path), 1, {}, Silent())
    for path, text in files.items():
        wanted = _wanted(text)
        emitted = rewrite(tree, decided.folded[path]) if path in decided.folded else ""
        # An emptied block receives a `pass` of its own.
        found = [line for line in _lines(emitted) if line.strip() != "pass" or line in wanted]
        assert found == wanted, path
        (left / path).parent.mkdir(parents=True, exist_ok=True)
        if path in decided.folded:
            (left / path).write_text(emitted)
    (left / "python/sglang/__init__.py").touch()
    (left / "python/sglang/srt").mkdir(exist_ok=True)
    (left / "python/sglang/srt/__init__.py").touch()
    ran = _run(upstream)
    assert ran, "the program prints nothing: it cannot tell a difference"
    assert _run(left) == ran
