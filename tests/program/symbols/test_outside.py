"""What code outside, commands and pickles take by name, and what texts name: what must still go
beside them, too.
"""

from pathlib import Path

import pytest

from shrinker.values.errors import InputError
from shrinker.values.texts import without_comments, words_of
from tests.program.symbols.support import left
from tests.small import read_archive, rule

ROOT = rule("root", "root-launch", modules=["sglang.launch_server"])
TEXTS = read_archive(Path(__file__).with_name("outside.txtar"))
HELPERS, NOBODY, PICKLED = (TEXTS[f"{name}.py"] for name in ("helpers", "nobody", "pickled"))
COMMANDS_OF = {
    name.removeprefix("commands/"): text
    for name, text in TEXTS.items()
    if name.startswith("commands/")
}
OUTSIDE = [
    "sglang.helpers.wait_*",
    "sglang.helpers.Client",
    "sglang.helpers._private",
    "sglang.removed.tool",
]
# A rule that removes counts more than who uses it.
API = rule("api", "api-helpers", users="notebooks", names=OUTSIDE) + rule(
    "remove", "remove-tool", feature="the tool", modules=["sglang.removed"]
)
LAUNCH = (
    "from sglang.pickled import Channel, Processor\n\nprint(Processor.from_text, Channel().read)\n"
)


def _left(folder: Path, files: dict[str, str], more: str = "") -> dict[str, str]:
    return left(folder, {"__init__.py": ""} | files, more, root=ROOT)


def _bound(text: str) -> list[str]:
    words = (line.split("(")[0].split(":")[0].split() for line in text.splitlines())
    return [line[-1] for line in words if line[:1] in (["def"], ["class"])]


FILES = {
    "launch_server.py": "print(1)\n",
    "helpers.py": HELPERS,
    "nobody.py": NOBODY,
    "removed.py": "tool = 1\n",
}


def test_without_a_rule_the_module_goes(tmp_path: Path) -> None:
    assert set(_left(tmp_path, FILES)) == {"__init__.py", "launch_server.py"}


def test_what_code_outside_takes_stays_with_what_it_needs_and_nothing_else(tmp_path: Path) -> None:
    found = _left(tmp_path, FILES, API)
    assert set(found) == {"__init__.py", "launch_server.py", "helpers.py"}
    bound = " ".join(_bound(found["helpers.py"]))
    assert bound == "wait_for_it _how_long wait_none _private Base ask Client tell"
    assert "import os" not in found["helpers.py"] and "import json" in found["helpers.py"]
    # Nobody runs it as a program.
    assert "other()" not in found["helpers.py"]


@pytest.mark.parametrize(("names", "said"), [(["sglang.*.wait"], "in full"), ([], "names")])
def test_a_rule_names_its_modules_in_full(tmp_path: Path, names: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        _left(tmp_path, FILES, rule("api", "a", users="nobody", names=names))


def test_heirs_of_a_class_that_is_made_of_what_comes_in(tmp_path: Path) -> None:
    text = _left(
        tmp_path, {"launch_server.py": LAUNCH, "pickled.py": PICKLED, "nobody.py": NOBODY}
    )["pickled.py"]
    assert _bound(text) == [
        "_load",
        "Processor",
        "from_text",
        "to_text",
        "Budget",
        "kept",
        "Deeper",
        "Channel",
        "read",
    ]
    assert "LIMIT = 4" in text


COMMANDS = (
    '[[root]]\nid = "root-commands"\nwhy = "Commands of the package."\n'
    'modules = ["sglang.cli.main"]\n'
)


def _left_by(folder: Path, command: str) -> dict[str, str]:
    return left(folder, COMMANDS_OF, COMMANDS, scripts={"tool": command})


def test_a_function(tmp_path: Path) -> None:
    found = _left_by(tmp_path, "sglang.cli.main:main")
    assert "def main" in found["cli/main.py"] and "def serve" in found["cli/serve.py"]
    assert "def other" not in found["cli/main.py"] and "class Tool" not in found["cli/main.py"]
    assert "def stop" not in found["cli/serve.py"]


def test_a_method(tmp_path: Path) -> None:
    text = _left_by(tmp_path, "sglang.cli.main:Tool.run")["cli/main.py"]
    assert "class Tool" in text and "def run" in text
    assert "def walk" not in text and "def main" not in text


def test_none(tmp_path: Path) -> None:
    found = _left_by(tmp_path, "another.package:main")
    assert "def " not in found["cli/main.py"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("import asyncio\nasyncio.run(main())\n", False),
        # Read of a module of the package, spelled, or imported from it.
        ("import asyncio\nimport sglang.launch_server as m\nm.asyncio.run()\n", True),
        ("import asyncio\ngetattr(m, 'asyncio')\n", True),
        ("import asyncio\nfrom sglang.launch_server import asyncio\n", True),
        ("import asyncio\nfrom sglang.launch_server import (\n    run,\n    asyncio,\n)\n", True),
        ("from sglang.launch_server import *\nasyncio.run()\n", True),
    ],
)
def test_a_module_of_the_standard_library_that_a_file_imports_itself_names_nothing(
    text: str, kept: bool
) -> None:
    assert ("asyncio" in words_of("scripts/run.py", text)) is kept


def test_other_modules_and_other_languages_name_what_they_say() -> None:
    assert {"sglang", "requests"} <= words_of("a.py", "import sglang\nimport requests\n")
    assert "asyncio" in words_of("a.js", "import asyncio\n")


def test_a_comment_names_nothing_and_a_string_may() -> None:
    text = 'import sglang  # for larger models\nrun("# utils")\n# Tuple\n'
    left = words_of("a.py", without_comments("a.py", text))
    assert {"sglang", "utils"} <= left
    assert not {"models", "Tuple"} & left
    # A file that does not end as Python does, and one that is none, keep all that they say.
    assert without_comments("a.js", text) == text
    assert without_comments("a.py", "def f(:\n  'open # x\n") == "def f(:\n  'open # x\n"
