"""Which programs of a tree are asked for their help: those it has as programs, and no module that only says it is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from equivalence.levels import imports
from equivalence.levels.setting import PROGRAMS
from shrinker.fold.messages import no_program
from tests.simulations import write_package

PROGRAM = 'if __name__ == "__main__":\n    main()'


def test_programs_of_the_profile(tmp_path: Path) -> None:
    refused = f'if __name__ == "__main__":\n    raise RuntimeError("{no_program("sglang.within.other")}")'
    files = {
        "top.py": PROGRAM,
        "library.py": "VALUE = 1",
        "within/tool.py": PROGRAM,
        "within/other.py": refused,
        "within/unasked.py": PROGRAM,
    }
    subjects = {"commands": ["*.py", "within/tool.py", "within/other.py", "within/absent.py"], "installed": []}
    found = list(imports._commands(write_package(tmp_path, files), subjects))
    assert [command.start for command in found] == [("-m", "sglang.top"), ("-m", "sglang.within.tool")]
    assert [command.path for command in found] == ["python/sglang/top.py", "python/sglang/within/tool.py"]


def test_each_command_is_alone_with_its_arguments_and_its_end(tmp_path: Path) -> None:
    files = {
        "helps.py": "import argparse, sglang.once\nargparse.ArgumentParser().parse_args()",
        "again.py": "import sys, sglang.once\nprint(sys.argv[1:], sys.argv[0].endswith('again.py'))",
        "once.py": "import os\nassert 'ONCE' not in os.environ\nos.environ['ONCE'] = ''\nprint('loaded')",
        "says.py": "import sys\nsys.exit('no')",
        "fails.py": "1 / 0",
    }
    tree = write_package(tmp_path, files)
    commands = {name: ("-m", f"sglang.{name}") for name in ("helps", "again", "says", "fails")}
    commands["installed"] = ("-c", "import sys; sys.argv[0] = 'sglang'; print(sys.argv); sys.exit(3)")
    (tmp_path / "given.json").write_text(json.dumps({"commands": commands, "seconds": 60}))
    words = [sys.executable, *map(str, (PROGRAMS / "usage.py", tmp_path / "given.json", tmp_path / "result.json"))]
    subprocess.run(words, check=True, env=os.environ | {"PYTHONPATH": str(tree)})
    told = json.loads((tmp_path / "result.json").read_text())
    assert told["helps"][0] == 0 and told["helps"][1].startswith("loaded\nusage: helps.py [-h]")
    assert told["again"] == [0, "loaded\n['--help'] True\n"]
    assert told["says"] == [1, "no\n"] and told["installed"] == [3, "['sglang', '--help']\n"]
    assert told["fails"][0] == 1 and told["fails"][1].endswith("ZeroDivisionError: division by zero\n")


def test_commands_that_installing_makes(tmp_path: Path) -> None:
    tree = write_package(tmp_path, {"cli/main.py": "def main(): ..."})
    (tree / "pyproject.toml").write_text(
        '[project.scripts]\nserve = "sglang.cli.main:main"\nkills = "sglang.cli:kill"\n'
    )
    found = list(imports._commands(tree, {"commands": [], "installed": ["serve", "absent"]}))
    assert [command.name for command in found] == ["serve"]
    assert "sglang.cli.main.main()" in found[0].start[1]
