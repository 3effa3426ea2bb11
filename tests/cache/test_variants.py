"""Results that depend on answers are found where these are the same, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from shrinker.cache import Cache, Question, Recorded, Variants, digest_of
from shrinker.cache.variants import _MOST

ASKED: tuple[Question, ...] = (("name", "a"), ("name", "b"))


def _said(world: Mapping[str, int], questions: tuple[Question, ...]) -> bytes:
    return digest_of(f"{question} {world.get(question[1])}" for question in questions)


def _recall(folder: Path, world: Mapping[str, int]) -> dict[str, bytes]:
    return Variants(Cache(folder), "kind").recall({"f": "text"}, lambda questions: _said(world, questions))


def _learn(folder: Path, world: Mapping[str, int], packed: bytes, asked: tuple[Question, ...] = ASKED) -> None:
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
