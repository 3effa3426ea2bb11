"""What installing the package makes a command of is reached, and nothing more for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from shrinker.pipeline import analyse
from tests.fold.programs import make_tree, rewrite
from tests.pipeline.silent import Silent
from tests.program.symbols.support import small_rules

FILES = {
    "python/sglang/launch_server.py": "print('serves')\n",
    "python/sglang/cli/__init__.py": "",
    "python/sglang/cli/main.py": """\
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
    "python/sglang/cli/serve.py": "def serve():\n    return 2\n\n\ndef stop():\n    return 3\n",
    # Somebody names them: none stays only because code outside may be why it is there.
    "python/sglang/nobody.py": "from sglang.cli.main import other\n\nother().walk().stop().run()\n",
}

COMMANDS = '[[root]]\nid = "root-commands"\nwhy = "Commands of the package."\nmodules = ["sglang.cli.main"]\n'


def _left(folder: Path, scripts: dict[str, str]) -> dict[str, str]:
    tree = make_tree(folder / "up", FILES)
    tree = replace(tree, declared=replace(tree.declared, scripts=scripts))
    decided = analyse(tree, small_rules(folder, COMMANDS), 1, {}, Silent())
    return {path: rewrite(tree, module) for path, module in decided.folded.items()}


def test_a_function(tmp_path: Path) -> None:
    left = _left(tmp_path, {"tool": "sglang.cli.main:main"})
    assert "def main" in left["python/sglang/cli/main.py"] and "def serve" in left["python/sglang/cli/serve.py"]
    assert (
        "def other" not in left["python/sglang/cli/main.py"] and "class Tool" not in left["python/sglang/cli/main.py"]
    )
    assert "def stop" not in left["python/sglang/cli/serve.py"]


def test_a_method(tmp_path: Path) -> None:
    text = _left(tmp_path, {"tool": "sglang.cli.main:Tool.run"})["python/sglang/cli/main.py"]
    assert "class Tool" in text and "def run" in text
    assert "def walk" not in text and "def main" not in text


def test_none(tmp_path: Path) -> None:
    left = _left(tmp_path, {"elsewhere": "another.package:main"})
    assert "def " not in left["python/sglang/cli/main.py"]
