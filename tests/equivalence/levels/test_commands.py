"""Which programs of a tree are asked for their help: those it has as programs, and no module that only says it is none."""

from __future__ import annotations

from pathlib import Path

from equivalence.levels import imports
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


def test_commands_that_installing_makes(tmp_path: Path) -> None:
    tree = write_package(tmp_path, {"cli/main.py": "def main(): ..."})
    (tree / "pyproject.toml").write_text(
        '[project.scripts]\nserve = "sglang.cli.main:main"\nkills = "sglang.cli:kill"\n'
    )
    found = list(imports._commands(tree, {"commands": [], "installed": ["serve", "absent"]}))
    assert [command.name for command in found] == ["serve"]
    assert "sglang.cli.main.main()" in found[0].start[1]
