"""Commands that a tree declares, and the dotted texts that name what they run."""

from dataclasses import replace
from pathlib import Path

import pytest

from shrinker.check.resolve import Modules
from tests.check.trees import Build
from tests.program.small_tree import write_below
from tests.small import read_archive

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
def test_commands(
    case: Build, scripts: dict[str, str], declared: dict[str, str], findings: int
) -> None:
    left = "def main(): pass\nclass Tool:\n    def run(self): pass\n"
    made = case(
        {"a.py": left + "    def gone(self): pass\ndef gone(): pass\n", "b.py": left},
        {"a.py": left},
    )
    made.tree = replace(made.tree, declared=replace(made.tree.declared, scripts=scripts))
    rows = "".join(f"{name} = '{target}'\n" for name, target in declared.items())
    (made.out / "python/pyproject.toml").write_text(
        _DECLARED + (f"[project.scripts]\n{rows}" if rows else "")
    )
    found = [check for check, _ in made.findings("references") if check == "commands"]
    assert len(found) == findings


def test_a_declaration_that_cannot_be_read(case: Build) -> None:
    made = case({"a.py": ""}, {"a.py": "="})
    (made.out / "python/pyproject.toml").write_text("[")
    assert made.findings("references") == [("commands", "python/pyproject.toml")]


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("sglang.a.C.f", True),
        # A local variable of a method is none.
        ("sglang.a.C.own", False),
        ("sglang.a.C.h", True),
        ("sglang.a.C.n", True),
        ("sglang.a:C.f", True),
        ("sglang.a.C.x", False),
        ("sglang.a.C.after", False),
        # Of several things of one name the class counts: both trees are asked alike.
        ("sglang.a.D.any", False),
        ("sglang.a.E.f", False),
        # What a base gives is there, too.
        ("sglang.a.F.f", True),
        ("sglang.a.F.x", False),
    ],
)
def test_a_dotted_text_names_a_member_of_a_class(tmp_path: Path, text: str, there: bool) -> None:
    source = read_archive(Path(__file__).with_name("members_of_classes.txtar"))["a.py"]
    write_below(tmp_path, {"a.py": source})
    assert Modules(tmp_path, {"sglang.a": "python/sglang/a.py"}).dotted_path(text) is there
