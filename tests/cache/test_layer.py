"""Layers and variants: keys that cannot meet by accident, values that come back as they were,
results that depend on answers.
"""

import ast
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from shrinker.cache import Cache, Question, Recorded, Variants, digest_of, hash_of, pack, unpack
from shrinker.cache.layer import _MOST, content_digest, tool_identity
from shrinker.cache.workers import map_files
from shrinker.values.edits import Literal, Span
from shrinker.values.folded import Decision
from tests.small import write


def _owner(number: int) -> tuple[int, int]:
    return number, os.getpid()


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_are_in_the_order_of_the_items(jobs: int) -> None:
    found = map_files(_owner, range(9), [1] * 9, jobs=jobs)
    assert [number for number, _ in found] == list(range(9))
    assert (os.getpid() in {owner for _, owner in found}) is (jobs == 1)


def test_texts_do_not_run_into_each_other() -> None:
    assert (
        len(
            {
                hash_of("ab", "c"),
                hash_of("a", "bc"),
                hash_of("abc"),
                hash_of("abc", ""),
                hash_of("", "abc"),
            }
        )
        == 5
    )


def test_a_layer_finds_its_own_results_and_counts(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    one, other = cache.layer("one", "rules"), cache.layer("other", "rules")
    keys = {"x": one.key("x"), "y": one.key("y")}
    one.save(keys, {"x": b"1"})
    assert one.load(keys) == {"x": b"1"}
    assert other.load({"x": other.key("x")}) == {}
    again = Cache(tmp_path)
    assert again.layer("one", "rules").load(keys) == {"x": b"1"}
    found = again.layer("one", "other rules")
    assert found.load({"x": found.key("x")}) == {}
    assert (again.counts["one"].asked, again.counts["one"].found) == (3, 1)


def test_without_a_folder_results_last_as_long_as_the_run(tmp_path: Path) -> None:
    cache = Cache()
    layer = cache.layer("one")
    keys = {"x": layer.key("x")}
    layer.save(keys, {"x": b"1"})
    assert layer.load(keys) == {"x": b"1"} and not cache.enabled
    assert Cache().layer("one").load(keys) == {}


@dataclass(frozen=True, slots=True)
class Plain:
    a: int
    b: tuple[str, ...] = ()


@dataclass(frozen=True)
class Derived:
    a: int
    b: int = field(init=False, default=0)


@dataclass(frozen=True, slots=True)
class Single:
    a: object


@dataclass
class Open:
    a: list[int]


def test_values_come_back_equal_and_of_their_type() -> None:
    for value in (
        Plain(1, ("x",)),
        Derived(3),
        Single(None),
        Single(Single(frozenset({"x"}))),
        Open([1]),
        {"k": (1, 1.5, b"x", None, True)},
        Decision(1, "rule", "if", "x", "true", 2),
        (Literal(Span(1, 2, 3, 4), "True"),),
    ):
        found = unpack(pack(value))
        assert found == value and type(found) is type(value)


def test_syntax_trees_come_back_with_their_positions() -> None:
    tree = ast.parse("if x:\n    y = [1, 'a']\n")
    assert ast.dump(unpack(pack(tree)), include_attributes=True) == ast.dump(
        tree, include_attributes=True
    )


def test_what_generates_depends_on_no_package_beside_it() -> None:
    # A wheel without `tools` finds what a checkout kept; that no layer below imports another
    # package is a contract of the linter.
    assert tool_identity() == tool_identity("shrinker") != tool_identity("equivalence")


def test_the_identity_of_a_tool_covers_every_file(tmp_path: Path) -> None:
    seen = {
        content_digest(write(tmp_path, files))
        for files in ({"a/x.py": "1"}, {"a/x.py": "2"}, {"a/page.jinja": "2"})
    }
    (tmp_path / "a/page.jinja").rename(tmp_path / "page.jinja")
    seen.add(content_digest(tmp_path))
    assert len(seen) == 4
    assert content_digest(write(tmp_path, {"a/__pycache__/x.pyc": "x"})) in seen


ASKED: tuple[Question, ...] = (("name", "a"), ("name", "b"))


def _said(world: Mapping[str, int], questions: tuple[Question, ...]) -> bytes:
    return digest_of(f"{question} {world.get(question[1])}" for question in questions)


def _recall(folder: Path, world: Mapping[str, int]) -> dict[str, bytes]:
    return Variants(Cache(folder), "kind").recall(
        {"f": "text"}, lambda questions: _said(world, questions)
    )


def _learn(
    folder: Path, world: Mapping[str, int], packed: bytes, asked: tuple[Question, ...] = ASKED
) -> None:
    variants = Variants(Cache(folder), "kind")
    variants.recall({"f": "text"}, lambda questions: _said(world, questions))
    variants.learn("text", Recorded(asked, _said(world, asked), packed))
    variants.save()


def test_a_result_is_found_where_the_answers_are_the_same(tmp_path: Path) -> None:
    assert _recall(tmp_path, {"a": 1}) == {}
    _learn(tmp_path, {"a": 1, "b": 2}, b"first")
    _learn(tmp_path, {"a": 2}, b"second")
    assert _recall(tmp_path, {"a": 1, "b": 2, "unasked": 3}) == {"f": b"first"}
    assert _recall(tmp_path, {"a": 2}) == {"f": b"second"}
    assert _recall(tmp_path, {"a": 2, "b": 2}) == {}


def test_the_same_answers_to_other_questions_are_another_result(tmp_path: Path) -> None:
    _learn(tmp_path, {"a": 1, "b": 1}, b"a", ASKED[:1])
    _learn(tmp_path, {"a": 2, "b": 1}, b"b", ASKED[1:])
    assert _recall(tmp_path, {"a": 1, "b": 3}) == {"f": b"a"}
    assert _recall(tmp_path, {"a": 3, "b": 1}) == {"f": b"b"}


def test_a_result_is_found_before_it_is_written(tmp_path: Path) -> None:
    variants = Variants(Cache(tmp_path), "kind")
    variants.learn("text", Recorded((), digest_of(()), b"packed"))
    assert variants.recall({"f": "text"}, lambda questions: digest_of(())) == {"f": b"packed"}


def test_what_was_learnt_first_goes_first(tmp_path: Path) -> None:
    for number in range(_MOST + 1):
        _learn(tmp_path, {"a": number}, str(number).encode())
    assert _recall(tmp_path, {"a": 0}) == {}
    assert _recall(tmp_path, {"a": 1}) == {"f": b"1"}
