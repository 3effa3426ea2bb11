"""Folding with what earlier runs learnt gives what folding anew gives, whatever was changed in
between.
"""

import ast
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from shrinker.cache import Cache, pack, unpack
from shrinker.facts import lattice
from shrinker.facts.environment import Environment
from shrinker.facts.outline import Outline, outline
from shrinker.fold import dependency_tracker as tracker
from shrinker.fold.dependency_tracker import Answers, RecordingEnvironment, canonical
from shrinker.ruleset import without
from shrinker.values.folded import FoldedModule
from tests.fold.programs import PROGRAMS, fold_tree, make_tree, program_rules, read_program

_ARCHIVES = sorted(PROGRAMS.glob("*.txtar"))


class _Memory(Cache):
    """What a folder would hold, of which `tests/cache` is: a later run finds it as it finds
    that.
    """

    enabled = True


def _fold(
    folder: Path, files: dict[str, str], cache: Cache | None, *, rounds: bool = True
) -> dict[str, FoldedModule]:
    return fold_tree(make_tree(folder, files), program_rules(), cache, rounds=rounds)[0]


def _edits(files: dict[str, str]) -> Iterator[dict[str, str]]:
    """The same program with one file changed: outside and inside of what others see of it, gone, or
    with other facts.
    """
    for path, text in files.items():
        yield files | {path: text + "\n# edited\n"}
        yield files | {path: "# edited\n" + text}
        yield files | {path: text + "\nEDITED = 1\n"}
        swapped = (
            text.replace("is_hip", "is_other")
            .replace("is_cuda", "is_hip")
            .replace("is_other", "is_cuda")
        )
        yield files | {path: swapped}
        yield files | {path: ""}
        yield {other: kept for other, kept in files.items() if other != path}


@pytest.mark.parametrize("archive", _ARCHIVES, ids=lambda path: path.stem)
def test_a_warm_fold_is_a_cold_fold(tmp_path: Path, archive: Path) -> None:
    files = read_program(archive).files
    cache = _Memory(None)
    _fold(tmp_path / "first", files, cache)
    for number, edited in enumerate(_edits(files)):
        tree = make_tree(tmp_path / f"edited{number}", edited)
        # Each from what all runs before it left: that is what a cache meets.
        warm, cold = (fold_tree(tree, program_rules(), kept, rounds=True) for kept in (cache, None))
        assert warm == cold
    cache.counts.clear()
    assert _fold(tmp_path / "back", files, cache) == _fold(tmp_path / "anew", files, None)
    counts = cache.counts["folded"]
    assert counts.found == counts.asked > 0


IS_HIP, IS_CUDA = (f"from sglang.srt.utils import {name}\n" for name in ("is_hip", "is_cuda"))


def _again(
    folder: Path, files: dict[str, str], old: str, new: str
) -> tuple[FoldedModule, FoldedModule, int]:
    """The module a before and after an edit of b, as without a cache; and how many were folded
    anew.
    """
    files = {f"python/sglang/{name}.py": text for name, text in files.items()}
    before = _fold(folder / "one", files, Cache(folder / "cache"), rounds=False)
    files["python/sglang/b.py"] = files["python/sglang/b.py"].replace(old, new)
    cache = Cache(folder / "cache")
    after = _fold(folder / "two", files, cache, rounds=False)
    assert after == _fold(folder / "cold", files, None, rounds=False)
    counts = cache.counts["folded"]
    return before["python/sglang/a.py"], after["python/sglang/a.py"], counts.asked - counts.found


def test_an_edit_inside_a_function_folds_one_module(tmp_path: Path) -> None:
    files = {
        "a": f"from sglang.b import f\n{IS_HIP}if is_hip():\n    f()\n",
        "b": "def f():\n    return 1\n\n\nX = 1\n" + "# long\n" * 20,
    }
    assert _again(tmp_path, files, "return 1", "y = 1\n    return y")[2] == 1


def test_a_changed_answer_folds_the_module_that_asked_for_it(tmp_path: Path) -> None:
    files = {
        "a": "from sglang.b import flag\nif flag:\n    x = 1\nelse:\n    x = 2\n",
        "b": f"{IS_HIP}flag = is_hip()\n",
        "c": f"from sglang.b import flag\n{IS_CUDA}if is_cuda():\n    x = 1\n",
        "d": f"{IS_CUDA}if is_cuda():\n    x = 1\n",
    }
    before, after, anew = _again(tmp_path, files, files["b"], "flag = input()\n")
    assert before.edits and not after.edits
    assert anew == 3, "a, b, and c, which asked for the flag although it did not use it"


def test_an_enumeration_that_no_rule_speaks_of_is_nobody_elses_matter(tmp_path: Path) -> None:
    files = {
        "a": "from sglang.b import Mode\n\n\ndef f(mode):\n    return mode == Mode.FAST\n",
        "b": "from enum import Enum\n\n\nclass Mode(Enum):\n    FAST = 1\n    SLOW = 2\n",
        "c": "def g(mode):\n    return mode.LATE\n",
    }
    assert _again(tmp_path, files, "SLOW", "LATE")[2] == 1, "b alone"


def test_other_rules_fold_what_asked_for_one_that_changed(tmp_path: Path) -> None:
    asking = {"a": f"{IS_HIP}x = is_hip()\n", "b": f"{IS_CUDA}x = is_cuda()\n"}
    tree = make_tree(
        tmp_path / "tree", {f"python/sglang/{name}.py": text for name, text in asking.items()}
    )
    rules = program_rules()
    fold_tree(tree, rules, Cache(tmp_path / "cache"))[0]
    # The digest is of the files that the rules came from: what counts is what they say.
    other = rules.model_copy(
        update={"facts": tuple(fact for fact in rules.facts if "is_hip" not in str(fact.calls))}
    )
    assert len(other.facts) == len(rules.facts) - 1
    cache = Cache(tmp_path / "cache")
    assert fold_tree(tree, other, cache)[0] == fold_tree(tree, other, None)[0]
    assert cache.counts["folded"].asked - cache.counts["folded"].found == 2, (
        "a, and the module that defines it"
    )


@pytest.mark.parametrize("archive", _ARCHIVES, ids=lambda path: path.stem)
def test_a_warm_fold_by_other_rules_is_a_cold_fold(tmp_path: Path, archive: Path) -> None:
    tree = make_tree(tmp_path / "tree", read_program(archive).files)
    rules = program_rules()
    cache = _Memory(None)
    fold_tree(tree, rules, cache, rounds=True)
    # All of them over all programs: each takes a cold fold, too.
    for rule in sorted(rules.by_id())[_ARCHIVES.index(archive) % 5 :: 5]:
        other = without(rules, (rule,))
        assert fold_tree(tree, other, cache, rounds=True) == fold_tree(tree, other, rounds=True), (
            rule
        )


def _environment() -> Environment:
    return Environment(program_rules(), {}, frozenset({"sglang"}))


def test_everything_that_an_environment_tells_is_declared() -> None:
    public = {name for name in dir(_environment()) if not name.startswith("_")}
    declared = [tracker.UNASKED, tracker.ASKED, tracker.AMONG, tracker.COMPOSED, tracker.TABLES]
    assert public == frozenset().union(*declared), (
        "say in fold/dependency_tracker.py how it is recorded"
    )
    assert sum(map(len, declared)) == len(public), "declared twice"


def test_nothing_else_can_be_asked_while_folding() -> None:
    asked = RecordingEnvironment(Answers(_environment(), lambda module: None), "sglang.a")
    with pytest.raises(AttributeError, match="does not say how"):
        asked._memo  # noqa: B018
    with pytest.raises(AttributeError, match="does not say how"):
        asked.something_new  # noqa: B018
    with pytest.raises(TypeError):
        list(asked.modules)


def test_texts_of_answers() -> None:
    values = [
        True,
        1,
        "1",
        1.0,
        b"1",
        None,
        "None",
        (),
        frozenset(),
        ("a", "b"),
        ("a,b",),
        frozenset({"a", "b"}),
    ]
    values += [
        lattice.Known(1, True, frozenset()),
        lattice.Known(True, True, frozenset()),
        lattice.Ref("1"),
    ]
    assert len({canonical(value) for value in values}) == len(values)
    assert canonical(frozenset("abcdef")) == canonical(frozenset("fedcba"))
    with pytest.raises(TypeError):
        canonical(object())


def _outline(text: str) -> Outline:
    return outline("sglang.a", False, ast.parse(text))


MODULE = """import os
from sglang.b import *
from sglang.c import g

try:
    import aiter
except ImportError:
    aiter = None

def f(x):
    return os.name == "nt" and x

if f(1):
    flag = 3
else:
    flag = f(2)
"""


def test_a_stored_outline_is_the_outline() -> None:
    found = _outline(MODULE)
    again = unpack(pack(found))
    for field in fields(Outline):
        if field.name != "names":
            assert getattr(again, field.name) == getattr(found, field.name), field.name
    assert _text(again) == _text(found)


def _text(found: Outline) -> str:
    rows = []
    for name, bindings in found.names.items():
        for b in bindings:
            nodes = [
                ast.dump(n, include_attributes=True) for n in (b.value, b.node) if n is not None
            ]
            rows.append(
                repr(
                    (
                        name,
                        b.kind,
                        b.line,
                        b.module,
                        b.name,
                        nodes,
                        [(g.kind, g.polarity) for g in b.guards],
                    )
                )
            )
    return "\n".join(rows)
