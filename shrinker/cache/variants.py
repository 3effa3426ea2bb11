"""Results that depend on answers: each is kept with what was asked for it, and found again where that is answered as it was then."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from shrinker.cache.layer import Cache, pack, unpack

Question = tuple[Any, ...]
"""Name of what is asked, then its arguments."""

_MOST = 24
"""How many are kept of one input: one run folds a module in several worlds, and people go back and forth between upstreams and
rules in which most inputs are the same."""

_WAITING_BYTES = 16 * 2**20
"""Results that wait to be written take no more memory than this."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One result."""

    questions: tuple[Question, ...]
    """What was asked for it, in order."""
    digest: bytes
    """Of the questions and their answers."""
    packed: bytes


def digest_of(said: Iterable[str]) -> bytes:
    """One hash over questions and answers, each a text."""
    return hashlib.sha256("\0".join(said).encode("utf-8", "surrogatepass")).digest()


class Variants:
    """Finds and keeps results of one kind; `save` writes what is new."""

    def __init__(self, cache: Cache, name: str) -> None:
        self._layer = cache.layer(name)
        self._known: dict[str, list[tuple[tuple[Question, ...], bytes]]] = {}
        self._new: set[str] = set()
        self._waiting: dict[bytes, bytes] = {}
        self._size = 0

    def recall(self, inputs: Mapping[str, str], digest: Callable[[tuple[Question, ...]], bytes]) -> dict[str, bytes]:
        """Results that are known, packed.

        Args:
            inputs: by any name, what stands for all that the result depends on besides the answers.
            digest: of questions and the answers that they have now.
        """
        unread = {text: self._layer.key(text) for text in inputs.values() if text not in self._known}
        for text, data in self._layer.load(unread, counted=False).items():
            self._known[text] = unpack(data)
        keys: dict[str, bytes] = {}
        for name, text in inputs.items():
            for questions, answers in self._known.get(text, ()):
                if digest(questions) == answers:
                    keys[name] = self._layer.key(text, answers.hex())
                    break
        found = {name: self._waiting[key] for name, key in keys.items() if key in self._waiting}
        found |= self._layer.load({name: key for name, key in keys.items() if name not in found}, counted=False)
        self._layer.count(len(inputs), len(found))
        return found

    def learn(self, text: str, recorded: Recorded) -> None:
        """Keep a result of an input, before those that are known."""
        known = self._known.setdefault(text, [])
        known.insert(0, (recorded.questions, recorded.digest))
        del known[_MOST:]
        self._new.add(text)
        self._waiting[self._layer.key(text, recorded.digest.hex())] = recorded.packed
        self._size += len(recorded.packed)
        if self._size > _WAITING_BYTES:
            # Without the list that names them, which is written last, nobody finds them.
            self._layer.cache.save(self._waiting)
            self._waiting, self._size = {}, 0

    def save(self) -> None:
        """Write what was learnt to the cache."""
        lists = {self._layer.key(text): pack(self._known[text]) for text in sorted(self._new)}
        self._layer.cache.save(self._waiting | lists)
        self._waiting, self._size, self._new = {}, 0, set()
