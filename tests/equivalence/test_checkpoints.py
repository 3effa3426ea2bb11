"""Checkpoints of the levels: what a tokenizer keeps for a model of few tokens."""

import json

from equivalence.checkpoints.writer import known_tokens

VOCABULARY = {"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4}
TOKENIZER = {"model": {"vocab": VOCABULARY, "merges": ["a b", ["ab", "c"]]}, "added_tokens": [{"id": 5}]}


def test_a_tokenizer_knows_what_the_model_does() -> None:
    whole = json.dumps(TOKENIZER).encode()
    assert known_tokens(whole, 6) == whole
    found = json.loads(known_tokens(whole, 4))
    assert found["model"] == {"vocab": {name: VOCABULARY[name] for name in ("a", "b", "c", "ab")}, "merges": ["a b"]}
    assert found["added_tokens"] == []
