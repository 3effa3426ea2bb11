"""Why an import without a use stays: every reason once, and the imports that have none."""

from __future__ import annotations

from pathlib import Path

import pytest

from shrinker.check.orphaned import explain_imports
from shrinker.values.leftovers import Leftover
from tests.check.trees import write

HERE = "python/sglang/here.py"
BASE = {
    "__init__.py": "",
    "loud.py": "print('loud')\n",
    "quiet.py": "import os\n\n\ndef f(x):\n    return os.name\n",
    "deep.py": "from sglang.loud import something\n",
    "registers.py": "from sglang.loud import register\n\n\n@register\nclass A:\n    pass\n",
}


def reason(folder: Path, source: str, name: str, **more: str) -> str:
    """Of the import of a name in the module `sglang.here`."""
    files = {**BASE, "here.py": source, **{f"{key}.py": text for key, text in more.items()}}
    write(folder, files)
    line = next(n for n, row in enumerate(source.splitlines(), 1) if row.strip().startswith(("import", "from", name)))
    item = Leftover("orphaned imports", HERE, line, name)
    [found] = explain_imports(folder, [f"python/sglang/{path}" for path in files], [item])
    return found.reason


@pytest.mark.parametrize(
    ("source", "name"),
    [
        # Modules that only define, that are loaded anyhow, or that are the standard library's.
        ("from sglang.quiet import f\n", "sglang.quiet.f"),
        ("import json\n", "json"),
        ("from sglang.loud import a\nfrom sglang.loud import b\nb()\n", "sglang.loud.a"),
        ("from sglang.loud import a\nimport sglang.deep\nsglang.deep.x()\n", "sglang.loud.a"),
        ("def g():\n    from sglang.quiet import f\n\n    return 1\n", "sglang.quiet.f"),
        # A variable of its own is none of the builtins that read all names.
        ("from sglang.quiet import f\n\n\ndef g():\n    exec = 1\n    return exec\n", "sglang.quiet.f"),
        # A docstring says nothing.
        ("from sglang.quiet import f\n\n\ndef g():\n    'What f does.'\n", "sglang.quiet.f"),
    ],
)
def test_no_reason(tmp_path: Path, source: str, name: str) -> None:
    assert reason(tmp_path, source, name) == ""


@pytest.mark.parametrize(
    ("source", "name", "said"),
    [
        ("from sglang.loud import a\n", "sglang.loud.a", "importing sglang.loud runs python/sglang/loud.py:1"),
        ("from sglang.deep import a\n", "sglang.deep.a", "importing sglang.deep runs python/sglang/loud.py:1"),
        ("from sglang.registers import A\n", "sglang.registers.A", "python/sglang/registers.py:5"),
        ("import numpy.linalg\n", "numpy.linalg", "importing numpy.linalg loads numpy, which is outside the tree"),
        ("def g():\n    from sglang.loud import a\n\n    return 1\n", "sglang.loud.a", "python/sglang/loud.py:1"),
        (
            "def g():\n    try:\n        import numpy\n    except ImportError:\n        pass\n",
            "numpy",
            "`try` of line 2",
        ),
        ("if g():\n    from sglang.quiet import f\n", "sglang.quiet.f", "all that is left of its block"),
        ("from sglang.quiet import f\n\nx: 'f' = 1\n", "sglang.quiet.f", "the string of line 3"),
        (
            "from sglang.quiet import f\n\nx = globals()\n",
            "sglang.quiet.f",
            "here.py:3 looks at names of its own module",
        ),
    ],
)
def test_reason_in_the_file_and_what_it_loads(tmp_path: Path, source: str, name: str, said: str) -> None:
    assert said in reason(tmp_path, source, name)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("from sglang.here import f\n", "other.py:1 imports it"),
        ("from sglang.here import *\n\nf(1)\n", "other.py:1 imports all names, and python/sglang/other.py:3 reads it"),
        ("import sglang.here\n\nsglang.here.f(1)\n", "other.py:3 reads it as an attribute"),
        ("from sglang import here\n\nuse(here)\nx.f(1)\n", "other.py:3 hands the module on as a value"),
        ("x = 'sglang.here.f'\n", "other.py:1 names it in a string"),
        ("x = ('sglang.here', 'g')\nx.f(1)\n", "other.py:1 names the module in a string, and python/sglang/other.py:2"),
        ("x = 'here.py'\nx.f(1)\n", "other.py:1 names the module in a string"),
        (
            "import importlib\n\nimportlib.import_module(name).f(1)\n",
            "other.py:3 reads `f` in code that imports modules",
        ),
        # None of these can mean it.
        ("from sglang.quiet import f\n", ""),
        ("from sglang.here import *\n\ng(1)\n", ""),
        ("import sglang.here\n\nsglang.here.g(1)\nx.f(1)\n", ""),
        ("from sglang import here\n\nuse(here)\nx.g(1)\n", ""),
        ("import importlib\n\nimportlib.import_module(name).g(1)\n", ""),
        ("x = ('sglang.here', 'g')\nx.g(1)\n", ""),
        ("x = 'nowhere.py'\nx.f(1)\n", ""),
    ],
)
def test_reason_in_another_file(tmp_path: Path, other: str, said: str) -> None:
    found = reason(tmp_path, "from sglang.quiet import f\n", "sglang.quiet.f", other=other)
    assert said in found and bool(said) == bool(found)


def test_a_statement_of_which_no_name_is_used_is_no_other_way_to_load_its_module(tmp_path: Path) -> None:
    files = {**BASE, "here.py": "from sglang.loud import (\n    a,\n    b,\n)\n\nx = 1\n"}
    write(tmp_path, files)
    items = [Leftover("orphaned imports", HERE, line, f"sglang.loud.{name}") for line, name in ((2, "a"), (3, "b"))]
    paths = [f"python/sglang/{path}" for path in files]
    assert all("loud.py:1" in item.reason for item in explain_imports(tmp_path, paths, items))
    # With one of them in use the other one may go.
    assert [item.reason for item in explain_imports(tmp_path, paths, items[:1])] == [""]


@pytest.mark.parametrize("around", ["", "import sglang.one\n"])
def test_modules_in_a_cycle_may_load_in_one_order_only(tmp_path: Path, around: str) -> None:
    cycle = {"one": "import sglang.two\n", "two": "import sglang.one\n"}
    said = reason(tmp_path, f"from sglang.two import x\n{around}", "sglang.two.x", **cycle)
    assert (
        said == "importing sglang.two loads sglang.two, which is in a cycle of modules: they may load in one order only"
    )


def test_what_the_package_around_loads_may_come_later(tmp_path: Path) -> None:
    first = "from sglang.here import f\nfrom sglang.loud import a\n"
    assert "loud.py:1" in reason(tmp_path / "later", "from sglang.loud import a\n", "sglang.loud.a", __init__=first)
    # A package that does not load the file has loaded the rest before.
    alone = "from sglang.loud import a\n"
    assert reason(tmp_path / "before", "from sglang.loud import a\n", "sglang.loud.a", __init__=alone) == ""


def test_a_module_that_imports_its_own_package_is_in_no_cycle(tmp_path: Path) -> None:
    package = {"box/__init__": "from sglang.box.a import f\n", "box/a": "def f(): ...\n"}
    assert reason(tmp_path, "from sglang.box.a import f\n", "sglang.box.a.f", **package) == ""


@pytest.mark.parametrize(
    ("walked", "asks", "said"),
    [
        (
            "sglang.box",
            "x.f(1)",
            "other.py imports modules of sglang.box by computed names, and python/sglang/asks.py:1",
        ),
        # Another package, or a name that nothing asks for.
        ("sglang.bag", "x.f(1)", ""),
        ("sglang.box", "x.g(1)", ""),
    ],
)
def test_what_walks_a_package_hands_its_modules_on(tmp_path: Path, walked: str, asks: str, said: str) -> None:
    files = {
        **BASE,
        "box/__init__.py": "",
        "box/here.py": "from sglang.quiet import f\n",
        "other.py": f"import importlib\n\nfor name in names('{walked}'):\n    keep(importlib.import_module(name))\n",
        "asks.py": f"{asks}\n",
    }
    write(tmp_path, files)
    item = Leftover("orphaned imports", "python/sglang/box/here.py", 1, "sglang.quiet.f")
    [found] = explain_imports(tmp_path, [f"python/sglang/{path}" for path in files], [item])
    assert said in found.reason and bool(said) == bool(found.reason)
