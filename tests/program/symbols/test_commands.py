"""What installing the package makes a command of is reached, and nothing more for it."""

from __future__ import annotations

from pathlib import Path

from tests.program.symbols.support import left

FILES = {
    "launch_server.py": "print('serves')\n",
    "cli/__init__.py": "",
    "cli/main.py": """\
from sglang.cli.serve import serve


def main():
    return serve()


def other():
    return 1


class Tool:
    def run(self):
        return 1

    def walk(self):
        return 1
""",
    "cli/serve.py": "def serve():\n    return 2\n\n\ndef stop():\n    return 3\n",
    # Somebody names them: none stays only because code outside may be why it is there.
    "nobody.py": "from sglang.cli.main import other\n\nother().walk().stop().run()\n",
}

COMMANDS = '[[root]]\nid = "root-commands"\nwhy = "Commands of the package."\nmodules = ["sglang.cli.main"]\n'


def _left(folder: Path, command: str) -> dict[str, str]:
    return left(folder, FILES, COMMANDS, scripts={"tool": command})


def test_a_function(tmp_path: Path) -> None:
    found = _left(tmp_path, "sglang.cli.main:main")
    assert "def main" in found["cli/main.py"] and "def serve" in found["cli/serve.py"]
    assert "def other" not in found["cli/main.py"] and "class Tool" not in found["cli/main.py"]
    assert "def stop" not in found["cli/serve.py"]


def test_a_method(tmp_path: Path) -> None:
    text = _left(tmp_path, "sglang.cli.main:Tool.run")["cli/main.py"]
    assert "class Tool" in text and "def run" in text
    assert "def walk" not in text and "def main" not in text


def test_none(tmp_path: Path) -> None:
    found = _left(tmp_path, "another.package:main")
    assert "def " not in found["cli/main.py"]
