"""Each check of the level `references`: upstream, with a mark at what is gone of it, and what is
found.
"""

import shutil
import sysconfig
from pathlib import Path

import pytest

from shrinker.values.errors import InputError
from shrinker.values.upstream import PACKAGE_PREFIX
from tests.check.trees import RULES, Build
from tests.small import read_cases, rule

TYPING = "from typing import TYPE_CHECKING\n"

HERE = Path(__file__).parent
FAIL, PASS = (
    {
        name: files
        for kind in ("references", "members", "rows")
        for name, files in read_cases(HERE / f"{side}_{kind}.txtar").items()
    }
    for side in ("lost", "kept")
)
NAME_GONE = {
    "a name dropped from a module that is imported": ("imports", "from sglang.p.a import f\n"),
    "a name that a star import gave": ("star-import names", "from sglang.p.a import *\nprint(f)\n"),
    "an attribute of a module": (
        "module attributes",
        "import sglang.p.a as x\ndef h():\n    return x.f\n",
    ),
    "an attribute of a module by its full name": (
        "module attributes",
        "import sglang.p.a\nsglang.p.a.f()\n",
    ),
    "an attribute of a module that its package gave": (
        "module attributes",
        "from sglang.p import a\na.f\n",
    ),
    "a string that is a class": ("string paths", "x = 'sglang.p.a.f'\ny = 'sglang.p.a:g'\n"),
    "a lazy import of module and name": ("string paths", "x = print('sglang.p.a', 'f')\n"),
    "a row of key, module and name": ("string paths", "x = print('key', 'sglang.p.a', 'f')\n"),
    "a pair of module and name": ("string paths", "x = [('sglang.p.a', 'f'), 1]\n"),
}
"""What `p/b.py` does with a class of `p/a.py`, and what is found when it has gone."""
MODULE_GONE = {
    "a module dropped, imported in a function": (
        "imports",
        "def h():\n    from .a import f\n    return f\n",
    ),
    "a module dropped, imported for types": (
        "imports",
        TYPING + "if TYPE_CHECKING:\n    import sglang.p.a\n",
    ),
    "a module dropped, its import guarded": (
        "imports",
        "try:\n    import sglang.p.a\nexcept ImportError:\n    pass\n",
    ),
    "a string that is a module": ("string paths", "x = 'sglang.p.a'\n"),
    "a string that is a name of a module": ("string paths", "x = 'sglang.p.a:f'\n"),
    "a lazy import of a module and a name": ("string paths", "x = print('sglang.p.a', 'f')\n"),
}
"""The same, when the module has gone."""
for lost, rows in (("class f: pass  # gone\ng = 2\n", NAME_GONE), ("f = 1  # gone\n", MODULE_GONE)):
    FAIL |= {
        n: {"p/a.py": lost, "p/b.py": text, "found": f"{check} p/b.py"}
        for n, (check, text) in rows.items()
    }


@pytest.mark.parametrize("name", FAIL)
def test_fails(case: Build, name: str) -> None:
    upstream = {**FAIL[name]}
    wanted = upstream.pop("found").strip()
    made = case(upstream)
    evidence = made.evidence("references")
    found = [
        f"{each.check} {each.path.removeprefix(PACKAGE_PREFIX)}"
        for each in (*evidence.findings, *evidence.open)
    ]
    assert ", ".join(found) == wanted and not evidence.inherited
    assert case(upstream, upstream).findings("references") == []


@pytest.mark.parametrize("name", PASS)
def test_passes(case: Build, name: str) -> None:
    evidence = case(PASS[name]).evidence("references")
    assert evidence.findings == evidence.open == ()


def test_upstreams_own_faults_are_inherited(case: Build) -> None:
    text = (
        "import sglang.b as b\nfrom sglang.private import c\nundefined_name\nb.nothing\n__all__ = "
        "['zzz']\n"
    )
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
    assert len(checks) == 33


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
    assert case(upstream, {"a.py": "=", "removed_features.py": table, "other.py": "="}).findings(
        "references"
    ) == [("string paths", "other.py")]


REGISTRY = rule(
    "registry",
    "table",
    'feature = "rows"',
    'modules = ["sglang.b"]',
    'row = "Row"',
    'key = "op"',
    'target = "at"',
)
ROW = "Row = print\nRow(op='one.f', at='sglang.a:f')\n"
LOOK = "print('one.f')\n"
TWO, ONE = {"a.py": "def f(): pass\ng = 1\n"}, {"a.py": "g = 1\n"}
ROWS = {
    "whose module is gone, and is asked for": (
        {**TWO, "b.py": ROW, "c.py": LOOK},
        {"c.py": "="},
        1,
    ),
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
