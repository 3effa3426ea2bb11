"""Words by which a file beside the package may name something in it."""

from __future__ import annotations

import pytest

from shrinker.values.texts import without_comments, words_of


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
def test_a_module_of_the_standard_library_that_a_file_imports_itself_names_nothing(text: str, kept: bool) -> None:
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
