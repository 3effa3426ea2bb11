"""Each check of the level `references`: `(upstream, generated, findings)`; no finding means that the tree passes."""

from __future__ import annotations

import shutil
import sysconfig
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from shrinker.check.resolve import Modules
from shrinker.values.errors import InputError
from tests.check.trees import Case, Files, write

Build = Callable[[Files, Files], Case]

TYPING = "from typing import TYPE_CHECKING\n"
LAZY = "_NAMES = {'f': 1}\ndef __getattr__(name):\n    return _NAMES[name]\n"

FAIL: dict[str, tuple[Files, Files, list[tuple[str, str]]]] = {
    "a dropped helper still called": (
        {"a.py": "def f():\n    pass\ndef g():\n    f()\n"},
        {"a.py": "def g():\n    f()\n"},
        [("undefined names", "a.py")],
    ),
    "a suppressed undefined name": (
        {"a.py": "f = 1\nf  # noqa: F821\n"},
        {"a.py": "f  # noqa: F821\n"},
        [("undefined names", "a.py")],
    ),
    "a name dropped from a module that is imported": (
        {"a.py": "def f():\n    pass\ndef g():\n    pass\n", "b.py": "from sglang.a import f\n"},
        {"a.py": "def g():\n    pass\n", "b.py": "="},
        [("imports", "b.py")],
    ),
    "a module dropped, imported in a function": (
        {"p/a.py": "f = 1\n", "p/b.py": "def h():\n    from .a import f\n    return f\n"},
        {"p/b.py": "="},
        [("imports", "p/b.py")],
    ),
    "a module dropped, imported for types": (
        {"a.py": "", "b.py": TYPING + "if TYPE_CHECKING:\n    import sglang.a\n"},
        {"b.py": "="},
        [("imports", "b.py")],
    ),
    "a module dropped, its import guarded": (
        {"a.py": "", "b.py": "try:\n    import sglang.a\nexcept ImportError:\n    pass\n"},
        {"b.py": "="},
        [("imports", "b.py")],
    ),
    "a submodule dropped": (
        {"p/__init__.py": "", "p/a.py": "", "b.py": "from sglang.p import a\n"},
        {"p/__init__.py": "=", "b.py": "="},
        [("imports", "b.py")],
    ),
    "a package without a file left": (
        {"p/a.py": "", "b.py": "import sglang.p\n"},
        {"b.py": "="},
        [("imports", "b.py")],
    ),
    "a name behind two stars": (
        {"a.py": "f = 1\ng = 2\n", "p/__init__.py": "from sglang.a import *\n", "b.py": "from sglang.p import f\n"},
        {"a.py": "g = 2\n", "p/__init__.py": "=", "b.py": "="},
        [("imports", "b.py")],
    ),
    "a name that a star import gave": (
        {"a.py": "f = 1\ng = 2\n", "b.py": "from sglang.a import *\nprint(f)\n"},
        {"a.py": "g = 2\n", "b.py": "="},
        [("star-import names", "b.py")],
    ),
    "a name that another package's star import does not give": (
        {"a.py": "from os import *\ndef f(): pass\nf()\n", "b.py": "from sglang.a import f\n"},
        {"a.py": "from os import *\nf()\n", "b.py": "="},
        [("star-import names", "a.py"), ("imports", "b.py")],
    ),
    "a name that a module-level __getattr__ served": (
        {"a.py": LAZY, "b.py": "from sglang.a import f\n"},
        {"a.py": LAZY.replace("'f': 1", ""), "b.py": "="},
        [("imports", "b.py")],
    ),
    "an attribute of a module": (
        {"a.py": "f = 1\ng = 2\n", "b.py": "import sglang.a as x\ndef h():\n    return x.f\n"},
        {"a.py": "g = 2\n", "b.py": "="},
        [("module attributes", "b.py")],
    ),
    "an attribute of a module by its full name": (
        {"p/a.py": "f = 1\ng = 2\n", "b.py": "import sglang.p.a\nsglang.p.a.f()\n"},
        {"p/a.py": "g = 2\n", "b.py": "="},
        [("module attributes", "b.py")],
    ),
    "an attribute of a module that its package gave": (
        {"p/a.py": "f = 1\ng = 2\n", "b.py": "from sglang.p import a\na.f\n"},
        {"p/a.py": "g = 2\n", "b.py": "="},
        [("module attributes", "b.py")],
    ),
    "a submodule that nobody imports any more": (
        {"p/a.py": "f = 1\n", "b.py": "import sglang.p as q\nq.a.f\n", "c.py": "import sglang.p.a\n"},
        {"p/a.py": "=", "b.py": "="},
        [("module attributes", "b.py")],
    ),
    "a string that is a module": (
        {"p/a.py": "", "b.py": "x = 'sglang.p.a'\n"},
        {"b.py": "="},
        [("string paths", "b.py")],
    ),
    "a string that is a class": (
        {"a.py": "class C:\n    pass\nf = 1\n", "b.py": "x = 'sglang.a.C'\ny = 'sglang.a:f'\n"},
        {"a.py": "f = 1\n", "b.py": "="},
        [("string paths", "b.py")],
    ),
    "a string that is a method": (
        {"a.py": "class C:\n    def f(self): pass\n    def g(self): pass\n", "b.py": "x = 'sglang.a.C.f'\n"},
        {"a.py": "class C:\n    def g(self): pass\n", "b.py": "="},
        [("string paths", "b.py")],
    ),
    "a string that is a method, after a text that goes on at the margin": (
        {
            "a.py": 'class C:\n    T = """\ntext\n"""\n    def f(self): pass\n    def g(self): pass\n\n\nx = 1\n',
            "b.py": "x = 'sglang.a.C.f'\n",
        },
        {"a.py": 'class C:\n    T = """\ntext\n"""\n    def g(self): pass\n\n\nx = 1\n', "b.py": "="},
        [("string paths", "b.py")],
    ),
    "a lazy import of module and name": (
        {"a.py": "f = 1\ng = 2\n", "b.py": "x = print('sglang.a', 'f')\n"},
        {"a.py": "g = 2\n", "b.py": "="},
        [("string paths", "b.py")],
    ),
    "a data file next to the module": (
        {"p/a.py": "open('t.json')\n", "p/t.json": "{}"},
        {"p/a.py": "="},
        [("data files", "p/a.py")],
    ),
    "a native source below the package": (
        {"p/a.py": "f = 'csrc/k.cu'\n", "p/csrc/k.cu": ""},
        {"p/a.py": "="},
        [("data files", "p/a.py")],
    ),
    "an exported name": (
        {"a.py": "__all__ = ['f', 'g']\nf = g = 1\n"},
        {"a.py": "__all__ = ['f', 'g']\ng = 1\n"},
        [("exported names", "a.py"), ("undefined names", "a.py")],
    ),
    "a benchmark outside the package": (
        {"a.py": "", "//benchmark/run.py": "import sglang.a\n"},
        {"//benchmark/run.py": "="},
        [("imports", "//benchmark/run.py".removeprefix("//"))],
    ),
}

PASS: dict[str, tuple[Files, Files]] = {
    "names bound in every way": (
        {
            "a.py": (
                "import os as o\nfor i in (): pass\nwith o as w: pass\nif (n := 1): c = 1\nelse:\n    d = 2\n"
                "try:\n    t = 1\nexcept E as e: pass\ndef f():\n    global g\n    g = 1\nclass K: pass\n"
                "match c:\n    case {'x': m, **r}: pass\n(p, *q) = 1, 2\nx: int = 3\nE = ImportError\n"
            ),
            "b.py": "from sglang.a import o, i, w, n, c, d, t, e, g, K, m, r, p, q, x\n",
        },
        {"a.py": "=", "b.py": "="},
    ),
    "a parameter that hides a module": (
        {"a.py": "f = 1\ng = 1\n", "b.py": "import sglang.a as x\ndef h(x):\n    return x.f\n"},
        {"a.py": "g = 1\n", "b.py": "="},
    ),
    "an attribute of a class, not of the module of its name": (
        {
            "p/__init__.py": "from .a import a\n",
            "p/a.py": "class a: pass\nf = 1\n",
            "b.py": "from sglang.p import a\na.f\n",
        },
        {"p/__init__.py": "=", "p/a.py": "class a: pass\n", "b.py": "="},
    ),
    "a module's own attributes": (
        {"a.py": "import sglang.b as b\nb.__file__\n", "b.py": ""},
        {"a.py": "=", "b.py": "="},
    ),
    "a namespace package": ({"p/a.py": "", "b.py": "import sglang.p\n"}, {"p/a.py": "=", "b.py": "="}),
    "documentation is no use": (
        {"p/a.py": "", "b.py": "'sglang.p.a'\ndef f():\n    'sglang.p.a'\n"},
        {"b.py": "="},
    ),
    "a dotted string that upstream cannot resolve": ({"b.py": "x = 'sglang.no.where'\n"}, {"b.py": "="}),
    "a star of another package": (
        {"a.py": "from os import *\nprint(getcwd)\n", "b.py": "from sglang.a import getcwd\n"},
        {"a.py": "=", "b.py": "="},
    ),
    "a file of the same name that is kept": (
        {"p/a.py": "open('t.json')\n", "p/x/t.json": "{}", "p/y/t.json": "{}"},
        {"p/a.py": "=", "p/x/t.json": "="},
    ),
    "a checkpoint's file that upstream has somewhere else": (
        {"p/a.py": "open('config.json')\n", "q/config.json": "{}"},
        {"p/a.py": "="},
    ),
    "names from a module that protobuf fills": (
        {"a.py": "import os\nos.build(globals())\n", "b.py": "from sglang.a import Request\n"},
        {"a.py": "=", "b.py": "="},
    ),
    "computed __all__": ({"a.py": "import os\n__all__ = os.__all__ + ['zzz']\n"}, {"a.py": "="}),
}


@pytest.mark.parametrize("name", FAIL)
def test_fails(case: Build, name: str) -> None:
    upstream, generated, wanted = FAIL[name]
    made = case(upstream, generated)
    assert made.findings("references") == wanted
    assert not made.evidence("references").inherited


@pytest.mark.parametrize("name", [*FAIL, *PASS])
def test_passes(case: Build, name: str) -> None:
    upstream, generated = (FAIL[name][0],) * 2 if name in FAIL else PASS[name]
    made = case(upstream, generated)
    assert made.findings("references") == []


def test_upstreams_own_faults_are_inherited(case: Build) -> None:
    text = "import sglang.b as b\nfrom sglang.private import c\nundefined_name\nb.nothing\n__all__ = ['zzz']\n"
    made = case({"a.py": text, "b.py": ""}, {"a.py": "# by shrinker\n" + text, "b.py": "="})
    evidence = made.evidence("references", jobs=2)
    assert evidence.passed
    assert [(f.check, f.line) for f in evidence.inherited] == [
        ("imports", 3),
        ("undefined names", 4),
        ("module attributes", 5),
        ("exported names", 6),
        ("undefined names", 6),
    ]


def test_a_fault_of_another_file_is_not_inherited(case: Build) -> None:
    made = case(
        {"a.py": "def f(): pass\nf()\n", "b.py": "f()\n"},
        {"a.py": "f()\n", "b.py": "="},
    )
    assert made.findings("references") == [("undefined names", "a.py")]


def test_the_checks_say_what_they_saw(case: Build) -> None:
    made = case(
        {
            "p/a.py": "import sglang.b as b\nb.f\n__all__ = ['b']\nx = 'sglang.b'\ny = 't.json'\n",
            "b.py": "f = 1\n",
            "p/t.json": "",
        },
        {"p/a.py": "=", "b.py": "=", "p/t.json": "="},
    )
    assert dict(made.evidence("references").checks) == {
        "undefined names": 2,
        "star-import names": 0,
        "imports": 1,
        "module attributes": 1,
        "string paths": 1,
        "data files": 1,
        "exported names": 1,
        "bases": 0,
        "members": 0,
        "stores": 0,
        "decorators": 0,
        "rows": 0,
        "names by text": 0,
        "tables": 0,
        "includes": 0,
        "build lists": 0,
        "operators": 0,
        "links": 0,
        "callers": 0,
        "definitions": 0,
        "ways through": 2,
        "crate targets": 0,
        "imports of loops": 0,
        "commands": 0,
        "companions": 0,
        "claims enforced": 0,
        "effects of flags": 0,
    }


_DECLARED = "[project]\nname = 'sglang'\n"


@pytest.mark.parametrize(
    ("scripts", "declared", "findings"),
    [
        ({"sglang": "sglang.a:main"}, {"sglang": "sglang.a:main"}, 0),
        ({"sglang": "sglang.a:Tool.run"}, {"sglang": "sglang.a:Tool.run"}, 0),
        ({}, {}, 0),
        # Went with its module.
        ({"sglang": "sglang.b:main"}, {}, 0),
        # Upstream's own fault.
        ({"sglang": "sglang.a:nothing"}, {"sglang": "sglang.a:nothing"}, 0),
        ({"sglang": "sglang.a:gone"}, {"sglang": "sglang.a:gone"}, 1),
        ({"sglang": "sglang.a:Tool.gone"}, {"sglang": "sglang.a:Tool.gone"}, 1),
        ({"sglang": "sglang.b:main"}, {"sglang": "sglang.b:main"}, 1),
        ({}, {"sglang": "sglang.a:nothing"}, 1),
        ({"sglang": "sglang.a:main"}, {}, 1),
        ({"sglang": "sglang.a:main"}, {"sglang": "sglang.a:Tool"}, 1),
    ],
)
def test_commands(case: Build, scripts: dict[str, str], declared: dict[str, str], findings: int) -> None:
    left = "def main(): pass\nclass Tool:\n    def run(self): pass\n"
    made = case({"a.py": left + "    def gone(self): pass\ndef gone(): pass\n", "b.py": left}, {"a.py": left})
    made.tree = replace(made.tree, declared=replace(made.tree.declared, scripts=scripts))
    rows = "".join(f"{name} = '{target}'\n" for name, target in declared.items())
    (made.out / "python/pyproject.toml").write_text(_DECLARED + (f"[project.scripts]\n{rows}" if rows else ""))
    found = [check for check, _ in made.findings("references") if check == "commands"]
    assert len(found) == findings


def test_a_declaration_that_cannot_be_read(case: Build) -> None:
    made = case({"a.py": ""}, {"a.py": "="})
    (made.out / "python/pyproject.toml").write_text("[")
    assert made.findings("references") == [("commands", "python/pyproject.toml")]


def test_an_ignored_output_folder_is_read_all_the_same(case: Build) -> None:
    made = case({"build/a.py": "f = 1\nf\n"}, {"build/a.py": "f\n"})
    (made.out / ".gitignore").write_text("*\n")
    assert made.findings("references") == [("undefined names", "build/a.py")]


def test_without_ruff_it_says_how_to_get_it(case: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: "/nowhere")
    with pytest.raises(InputError, match="ruff is not installed"):
        case({"a.py": ""}, {"a.py": "="}).evidence("references")


def test_the_table_of_removed_modules_names_what_is_gone(case: Callable[[Files, Files], Case]) -> None:
    table = "MODULES = {'sglang.gone': 'a-rule'}\n"
    upstream = {"a.py": "x = 1\n", "gone.py": "", "removed_features.py": table, "other.py": table}
    assert case(upstream, {"a.py": "=", "removed_features.py": table, "other.py": "="}).findings("references") == [
        ("string paths", "other.py")
    ]


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("sglang.a.C.f", True),
        ("sglang.a.C.own", True),
        ("sglang.a.C.h", True),
        ("sglang.a.C.n", True),
        ("sglang.a:C.f", True),
        ("sglang.a.C.x", False),
        ("sglang.a.C.after", False),
        # It may have any member: which class it is cannot be told.
        ("sglang.a.D.any", True),
        ("sglang.a.E.f", False),
    ],
)
def test_a_dotted_text_names_a_member_of_a_class(tmp_path: Path, text: str, there: bool) -> None:
    source = """\
class C:
    T = '''
class D
'''
    def f(self):
        own = 1
    async def h(self): pass
    n = 1

def after(): pass
if after():
    class D:
        pass
else:
    D = C
"""
    write(tmp_path, {"a.py": source})
    assert Modules(tmp_path, ["python/sglang/a.py"]).dotted_path(text) is there
