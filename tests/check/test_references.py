"""Each check of the level `references`: upstream, with a mark at what is gone of it, and what is found."""

import shutil
import sysconfig

import pytest

from shrinker.values.errors import InputError
from tests.check.trees import GONE, RULES, Build, Files
from tests.small import rule

TYPING = "from typing import TYPE_CHECKING\n"
LAZY = "_NAMES = {\n    'f': 1,  # gone\n}\ndef __getattr__(name):\n    return _NAMES[name]\n"
FIRST_GONE = "f = 1  # gone\ng = 2\n"

FAIL = {
    "a dropped helper still called": ({"a.py": "def f(): pass  # gone\ndef g():\n    f()\n"}, "undefined names a.py"),
    "a suppressed undefined name": ({"a.py": "f = 1  # gone\nf  # noqa: F821\n"}, "undefined names a.py"),
    "a submodule dropped": (
        {"p/__init__.py": "", "p/a.py": GONE, "b.py": "from sglang.p import a\n"},
        "imports b.py",
    ),
    "a package without a file left": ({"p/a.py": GONE, "b.py": "import sglang.p\n"}, "imports b.py"),
    "a name behind two stars": (
        {"a.py": FIRST_GONE, "p/__init__.py": "from sglang.a import *\n", "b.py": "from sglang.p import f\n"},
        "imports b.py",
    ),
    "a name that another package's star import does not give": (
        {"a.py": "from os import *\ndef f(): pass  # gone\nf()\n", "b.py": "from sglang.a import f\n"},
        "star-import names a.py, imports b.py",
    ),
    "a name that a module-level __getattr__ served": (
        {"a.py": LAZY, "b.py": "from sglang.a import f\n"},
        "imports b.py",
    ),
    "a submodule that nobody imports any more": (
        {"p/a.py": "f = 1\n", "b.py": "import sglang.p as q\nq.a.f\n", "c.py": "import sglang.p.a  # gone\n"},
        "module attributes b.py",
    ),
    "a string that is a method": (
        {"a.py": "class C:\n    def f(self): pass  # gone\n    def g(self): pass\n", "b.py": "x = 'sglang.a.C.f'\n"},
        "string paths b.py",
    ),
    "a string that is a method, after a text that goes on at the margin": (
        {"a.py": 'class C:\n    T = """\ntext\n"""\n    def f(self): pass  # gone\n', "b.py": "x = 'sglang.a.C.f'\n"},
        "string paths b.py",
    ),
    "a data file next to the module": ({"p/a.py": "open('t.json')\n", "p/t.json": GONE}, "data files p/a.py"),
    "a native source below the package": ({"p/a.py": "f = 'csrc/k.cu'\n", "p/csrc/k.cu": GONE}, "data files p/a.py"),
    "an exported name": (
        {"a.py": "__all__ = ['f', 'g']\nf = 1  # gone\ng = 1\n"},
        "exported names a.py, undefined names a.py",
    ),
    "a benchmark outside the package": (
        {"a.py": GONE, "//benchmark/run.py": "import sglang.a\n"},
        "imports benchmark/run.py",
    ),
    "a module dropped, imported by its package from itself": (
        {"p/__init__.py": "from sglang.p import a, b\n", "p/a.py": GONE, "p/b.py": "g = 1\n"},
        "imports p/__init__.py",
    ),
}
NAME_GONE = {
    "a name dropped from a module that is imported": ("imports", "from sglang.p.a import f\n"),
    "a name that a star import gave": ("star-import names", "from sglang.p.a import *\nprint(f)\n"),
    "an attribute of a module": ("module attributes", "import sglang.p.a as x\ndef h():\n    return x.f\n"),
    "an attribute of a module by its full name": ("module attributes", "import sglang.p.a\nsglang.p.a.f()\n"),
    "an attribute of a module that its package gave": ("module attributes", "from sglang.p import a\na.f\n"),
    "a string that is a class": ("string paths", "x = 'sglang.p.a.f'\ny = 'sglang.p.a:g'\n"),
    "a lazy import of module and name": ("string paths", "x = print('sglang.p.a', 'f')\n"),
    "a row of key, module and name": ("string paths", "x = print('key', 'sglang.p.a', 'f')\n"),
    "a pair of module and name": ("string paths", "x = [('sglang.p.a', 'f'), 1]\n"),
}
"""What `p/b.py` does with a class of `p/a.py`, and what is found when it has gone."""
MODULE_GONE = {
    "a module dropped, imported in a function": ("imports", "def h():\n    from .a import f\n    return f\n"),
    "a module dropped, imported for types": ("imports", TYPING + "if TYPE_CHECKING:\n    import sglang.p.a\n"),
    "a module dropped, its import guarded": ("imports", "try:\n    import sglang.p.a\nexcept ImportError:\n    pass\n"),
    "a string that is a module": ("string paths", "x = 'sglang.p.a'\n"),
    "a string that is a name of a module": ("string paths", "x = 'sglang.p.a:f'\n"),
    "a lazy import of a module and a name": ("string paths", "x = print('sglang.p.a', 'f')\n"),
}
"""The same, when the module has gone."""
for lost, rows in (("class f: pass  # gone\ng = 2\n", NAME_GONE), ("f = 1  # gone\n", MODULE_GONE)):
    FAIL |= {name: ({"p/a.py": lost, "p/b.py": text}, f"{check} p/b.py") for name, (check, text) in rows.items()}

PASS: dict[str, Files] = {
    "a module imported by its package from itself": {
        "p/__init__.py": "from sglang.p import a, b\nb = 1\n",
        "p/a.py": "f = 1\n",
    },
    "names bound in every way": {
        "a.py": (
            "import os as o\nfor i in (): pass\nwith o as w: pass\nif (n := 1): c = 1\nelse:\n    d = 2\n"
            "try:\n    t = 1\nexcept E as e: pass\ndef f():\n    global g\n    g = 1\nclass K: pass\n"
            "match c:\n    case {'x': m, **r}: pass\n(p, *q) = 1, 2\nx: int = 3\nE = ImportError\n"
        ),
        "b.py": "from sglang.a import o, i, w, n, c, d, t, e, g, K, m, r, p, q, x\n",
    },
    "a parameter that hides a module": {
        "a.py": FIRST_GONE,
        "b.py": "import sglang.a as x\ndef h(x):\n    return x.f\n",
    },
    "an attribute of a class, not of the module of its name": {
        "p/__init__.py": "from .a import a\n",
        "p/a.py": "class a: pass\nf = 1  # gone\n",
        "b.py": "from sglang.p import a\na.f\n",
    },
    "a module's own attributes": {"a.py": "import sglang.b as b\nb.__file__\n", "b.py": ""},
    "a namespace package": {"p/a.py": "", "b.py": "import sglang.p\n"},
    "documentation is no use": {"p/a.py": GONE, "b.py": "'sglang.p.a'\ndef f():\n    'sglang.p.a'\n"},
    "a dotted string that upstream cannot resolve": {"b.py": "x = 'sglang.no.where'\n"},
    "a star of another package": {
        "a.py": "from os import *\nprint(getcwd)\n",
        "b.py": "from sglang.a import getcwd\n",
    },
    "a file of the same name that is kept": {"p/a.py": "open('t.json')\n", "p/x/t.json": "{}", "p/y/t.json": GONE},
    "a checkpoint's file that upstream has somewhere else": {
        "p/a.py": "open('config.json')\n",
        "q/config.json": GONE,
    },
    "names from a module that protobuf fills": {
        "a.py": "import os\nos.build(globals())\n",
        "b.py": "from sglang.a import Request\n",
    },
    "computed __all__": {"a.py": "import os\n__all__ = os.__all__ + ['zzz']\n"},
}


@pytest.mark.parametrize("name", FAIL)
def test_fails(case: Build, name: str) -> None:
    upstream, wanted = FAIL[name]
    made = case(upstream)
    assert ", ".join(" ".join(found) for found in made.findings("references")) == wanted
    assert not made.evidence("references").inherited
    assert case(upstream, upstream).findings("references") == []


@pytest.mark.parametrize("name", PASS)
def test_passes(case: Build, name: str) -> None:
    assert case(PASS[name]).findings("references") == []


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
    made = case({"a.py": "def f(): pass\nf()\n", "b.py": "f()\n"}, {"a.py": "f()\n", "b.py": "="})
    assert made.findings("references") == [("undefined names", "a.py")]


def test_a_text_may_name_what_another_platform_defined(case: Build) -> None:
    upstream = {
        "a.py": "def for_npu(): pass\ndef f(): pass\n",
        "b.py": "x = [('sglang.a', 'for_npu'), ('sglang.a', 'f')]\n",
    }
    for left, findings in (("def f(): pass\n", []), ("", [("string paths", "b.py")])):
        found = case(upstream, {"a.py": left, "b.py": "="})
        found.rules = RULES
        assert found.findings("references") == findings


def test_the_checks_say_what_they_saw(case: Build) -> None:
    made = case(
        {
            "p/a.py": "import sglang.b as b\nb.f\n__all__ = ['b']\nx = 'sglang.b'\ny = 't.json'\n",
            "b.py": "f = 1\n",
            "p/t.json": "",
        },
        {"p/a.py": "=", "b.py": "=", "p/t.json": "="},
    )
    checks = dict(made.evidence("references").checks)
    assert {name: number for name, number in checks.items() if number} == {
        "undefined names": 2,
        "imports": 1,
        "module attributes": 1,
        "string paths": 1,
        "data files": 1,
        "exported names": 1,
        "ways through": 2,
    }
    assert len(checks) == 29


def test_an_ignored_output_folder_is_read_all_the_same(case: Build) -> None:
    made = case({"build/a.py": "f = 1\nf\n"}, {"build/a.py": "f\n"})
    (made.out / ".gitignore").write_text("*\n")
    assert made.findings("references") == [("undefined names", "build/a.py")]


def test_without_ruff_it_says_how_to_get_it(case: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: "/nowhere")
    with pytest.raises(InputError, match="ruff is not installed"):
        case({"a.py": ""}, {"a.py": "="}).evidence("references")


def test_the_table_of_removed_modules_names_what_is_gone(case: Build) -> None:
    table = "MODULES = {'sglang.gone': 'a-rule'}\n"
    upstream = {"a.py": "x = 1\n", "gone.py": "", "removed_features.py": table, "other.py": table}
    assert case(upstream, {"a.py": "=", "removed_features.py": table, "other.py": "="}).findings("references") == [
        ("string paths", "other.py")
    ]


REGISTRY = rule(
    "registry", "table", 'feature = "rows"', 'modules = ["sglang.b"]', 'row = "Row"', 'key = "op"', 'target = "at"'
)
ROW = "Row = print\nRow(op='one.f', at='sglang.a:f')\n"
LOOK = "print('one.f')\n"
TWO, ONE = {"a.py": "def f(): pass\ng = 1\n"}, {"a.py": "g = 1\n"}
ROWS = {
    "whose module is gone, and is asked for": ({**TWO, "b.py": ROW, "c.py": LOOK}, {"c.py": "="}, 1),
    "of a function, that is asked for": ({**TWO, "b.py": ROW + LOOK}, ONE, 1),
    "that nobody asks for": ({**TWO, "b.py": ROW + "Row(op='one.f', at='torch:f')\n"}, ONE, 0),
    "whose text stands elsewhere, too": ({**TWO, "b.py": ROW + "print('sglang.a:f')\n"}, ONE, 1),
    "of another kind": ({**TWO, "b.py": ROW.replace("Row", "Line")}, ONE, 1),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_of_a_table(case: Build, name: str) -> None:
    upstream, generated, findings = ROWS[name]
    made = case(upstream, {"b.py": "=", **generated}).ruled(REGISTRY)
    assert made.findings("references") == [("string paths", "b.py")] * findings
    assert case(upstream, dict.fromkeys(upstream, "=")).ruled(REGISTRY).findings("references") == []


@pytest.mark.parametrize(("modules", "findings"), [('["sglang.a"]', 0), ('["sglang.c"]', 1)])
def test_a_name_of_a_module_that_a_rule_removes(case: Build, modules: str, findings: int) -> None:
    made = case({"a.py": "def f(): pass\n", "b.py": "x = 'sglang.a:f'\n"}, {"b.py": "="})
    gone = rule("remove", "gone", 'feature = "some"', f"modules = {modules}")
    assert made.ruled(gone).findings("references") == [("string paths", "b.py")] * findings
