"""Why an import without a use stays, and the imports that have no reason: `(source of the module sglang.here, name)`."""

from pathlib import Path

import pytest

from shrinker.check.unused_imports import explain_imports
from shrinker.values.leftovers import Residue
from tests.check.trees import write_below

HERE = "python/sglang/here.py"
TWICE = "from sglang.loud import g\nfrom sglang.loud import f\n\ng()\n"


def reason(folder: Path, source: str, name: str, **more: str) -> str:
    files = {"here.py": source, **{f"{key}.py": text for key, text in more.items()}}
    write_below(folder, files)
    word = name.rpartition(".")[2]
    line = next(n for n, row in enumerate(source.splitlines(), 1) if "import" in row and row.endswith(word))
    item = Residue("orphaned imports", HERE, line, name)
    [found] = explain_imports(folder, [f"python/sglang/{path}" for path in files], [item])
    return found.reason


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import json\n", "json"),
        ("from json import loads\n", "json.loads"),
        ("def g():\n    import json\n\n    return 1\n", "json"),
        (TWICE, "sglang.loud.f"),
        ("from .loud import g\n\n\ndef h():\n    from .loud import f\n\n    return g()\n", "sglang.loud.f"),
        # A variable of its own is none of the builtins that read all names; a docstring says nothing.
        ("import json\n\n\ndef g():\n    'Of json.'\n    exec = 1\n    return exec\n", "json"),
    ],
)
def test_no_reason(tmp_path: Path, source: str, name: str) -> None:
    assert reason(tmp_path, source, name) == ""


@pytest.mark.parametrize(
    ("source", "name", "said"),
    [
        ("from sglang.loud import f\n", "sglang.loud.f", "importing sglang.loud may do something"),
        ("from sglang.loud import f\nfrom sglang.loud import g\ng()\n", "sglang.loud.f", "nothing before it"),
        ("if x:\n    from sglang.loud import g\n    g()\nimport os, sglang.loud\n", "sglang.loud", "nothing before it"),
        ("import numpy.linalg\n", "numpy.linalg", "importing numpy.linalg may do something"),
        ("def g():\n    try:\n        import json\n    except ImportError:\n        pass\n", "json", "`try` of line 2"),
        ("if g():\n    import json\n", "json", "all that is left of its block"),
        ("import json\n\nx: 'json' = 1\n", "json", "the string of line 3"),
        ("import json\n\nx = globals()\n", "json", "names of its own module"),
        ("import json\n\n\ndef g(json):\n    return json\n", "json", "line 5 reads another `json`"),
    ],
)
def test_a_reason_in_the_file(tmp_path: Path, source: str, name: str, said: str) -> None:
    assert said in reason(tmp_path, source, name)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("from sglang.here import f\n", "other.py:1 imports it"),
        ("from sglang.here import *\n\nf(1)\n", "other.py:1 imports it"),
        ("import sglang.here\n\nsglang.here.f(1)\n", "other.py:3 reads `f` of something"),
        ("x = 'sglang.here.f'\n", "other.py:1 reads `f` of something"),
        ("import importlib\n\nimportlib.import_module(name).f(1)\n", "other.py:3 reads `f` of something"),
        # None of these can mean it.
        ("from sglang.here import g\n", ""),
        ("import sglang.here\n\nsglang.here.g(1)\n", ""),
        ("import importlib\n\nimportlib.import_module(name).g(1)\n", ""),
    ],
)
def test_a_reason_in_another_file(tmp_path: Path, other: str, said: str) -> None:
    found = reason(tmp_path, TWICE, "sglang.loud.f", other=other)
    assert said in found and bool(said) == bool(found)


def test_a_statement_of_which_no_name_is_used_does_not_load_its_module_for_another(tmp_path: Path) -> None:
    write_below(tmp_path, {"here.py": "from sglang.loud import (\n    a,\n    b,\n)\n\nx = 1\n"})
    items = [Residue("orphaned imports", HERE, line, f"sglang.loud.{name}") for line, name in ((2, "a"), (3, "b"))]
    assert all("may do something" in item.reason for item in explain_imports(tmp_path, [HERE], items))
    # With one of them in use the other one may go.
    assert [item.reason for item in explain_imports(tmp_path, [HERE], items[:1])] == [""]
