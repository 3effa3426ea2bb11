"""A cache and its layers: one for each kind of result, each counting what it found.

Every result depends on this project's own code and the Python that runs it; one that depends on
answers is kept with what was asked for it, and found again where that is answered as it was then.
"""

import contextlib
import functools
import hashlib
import io
import pickle
import sys
from collections import ChainMap
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Any

_CHECKOUT = Path(__file__).resolve().parents[2]
_DATA = frozenset({"rules", "upstream.toml", "embedders.toml"})
"""What lies in the package and is input: results that depend on it say so themselves."""
LIMIT_BYTES = 1024 * 2**20
"""A tree leaves 35 to 75 MiB, once for each version of the tool: a dozen trees stay, and what was
not used for longest goes first.
"""
Question = tuple[Any, ...]
"""Name of what is asked, then its arguments."""
_MOST = 24
"""How many are kept of one input: one run folds a module in several worlds, and people go back and
forth between upstreams and rules in which most inputs are the same.
"""
_WAITING_BYTES = 16 * 2**20
"""Results that wait to be written take no more memory than this."""


def content_digest(folder: Path, without: Container[str] = ()) -> str:
    """SHA-256 (hex) over paths and bytes of every file below a folder, but byte code and some names
    directly below it.
    """
    digest = hashlib.sha256()
    for file in sorted(
        path for path in folder.rglob("*") if "__pycache__" not in path.parts and path.is_file()
    ):
        name = file.relative_to(folder)
        if name.parts[0] not in without:
            data = file.read_bytes()
            digest.update(f"{name.as_posix()}\0{len(data)}\0".encode())
            digest.update(data)
    return digest.hexdigest()


@functools.cache
def tool_identity(package: str = "shrinker") -> str:
    """Changes with every change of a package of this project and with the Python version, to the
    build; by default of the package that generates, which imports no other to do so. What others
    compute says that it depends on them, too.
    """
    code = content_digest(_CHECKOUT / package, _DATA)
    return hashlib.sha256(f"{code}\0{sys.implementation.name}\0{sys.version}".encode()).hexdigest()


@dataclass(slots=True)
class Counts:
    """What one layer did in this run."""

    asked: int = 0
    found: int = 0

    def add(self, asked: int, found: int) -> None:
        """Something was asked for, and some of it found."""
        self.asked += asked
        self.found += found


class Cache:
    """All cached results, in ``results/`` of the tool's cache folder; without one in this run's
    memory, where it starts empty.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._store = None
        if folder is not None:
            # A Python that was built without SQLite: everything is computed.
            with contextlib.suppress(ImportError):
                from shrinker.cache.store import Store

                self._store = Store(folder / "results" / "results.sqlite", LIMIT_BYTES)
        self._memory: dict[bytes, bytes] = {}
        self.counts: dict[str, Counts] = {}

    @property
    def enabled(self) -> bool:
        """False when nothing of an earlier run is ever found."""
        return self._store is not None

    def layer(self, name: str, *depends: str) -> "Layer":
        """Return the results of one kind, which all depend on these besides the tool (rules,
        versions of libraries).
        """
        counts = self.counts.setdefault(name, Counts())
        return Layer(self, counts, hash_of(tool_identity() if self.enabled else "", name, *depends))

    def load(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return entries that are there, by key."""
        if self._store is not None:
            return self._store.load(keys)
        return {key: self._memory[key] for key in keys if key in self._memory}

    def save(self, entries: Mapping[bytes, bytes]) -> None:
        """Keep entries by key."""
        if self._store is not None:
            self._store.save(entries)
        else:
            self._memory.update(entries)


@dataclass(frozen=True, slots=True)
class Layer:
    """One kind of result."""

    cache: Cache
    counts: Counts
    salt: bytes

    def key(self, *parts: str) -> bytes:
        """Key of a result, from everything that it depends on and the layer does not name."""
        return hash_of(self.salt.hex(), *parts)

    def load(self, keys: Mapping[str, bytes]) -> dict[str, bytes]:
        """Results that are known, by the names of their keys."""
        there = self.cache.load(keys.values())
        found = {name: there[key] for name, key in keys.items() if key in there}
        self.counts.add(len(keys), len(found))
        return found

    def save(self, keys: Mapping[str, bytes], results: Mapping[str, bytes]) -> None:
        """Keep results by the names of `keys`."""
        self.cache.save({keys[name]: value for name, value in results.items()})

    def packed(
        self, keys: Mapping[str, bytes], make: Callable[[list[str]], Iterable[bytes]]
    ) -> dict[str, bytes]:
        """Results as they are kept, by name: what is known, and what `make` gives for the names of
        the others, in their order.
        """
        known = self.load(keys)
        missing = [name for name in keys if name not in known]
        fresh = dict(zip(missing, make(missing), strict=True))
        self.save(keys, fresh)
        return known | fresh

    def each(self, keys: Mapping[str, bytes], make: Callable[[str], Any]) -> dict[str, Any]:
        """Results by name, in the order of the names: what `make` gives of each, or gave for an
        equal key before.
        """
        found = self.packed(keys, lambda missing: [pack(make(name)) for name in missing])
        return {name: unpack(found[name]) for name in keys}


@dataclass(frozen=True, slots=True)
class Recorded:
    """One result."""

    questions: tuple[Question, ...]
    """What was asked for it, in order."""
    digest: bytes
    """Of the questions and their answers."""
    packed: bytes


def digest_of(said: Iterable[str]) -> bytes:
    """Return one hash over questions and answers, each a text."""
    return hashlib.sha256("\0".join(said).encode("utf-8", "surrogatepass")).digest()


class Variants:
    """Finds and keeps results of one kind; `save` writes what is new."""

    def __init__(self, cache: Cache, name: str) -> None:
        self._layer = cache.layer(name)
        self._known: dict[str, list[tuple[tuple[Question, ...], bytes]]] = {}
        self._new: set[str] = set()
        self._waiting: dict[bytes, bytes] = {}
        self._size = 0

    def recall(
        self, inputs: Mapping[str, str], digest: Callable[[tuple[Question, ...]], bytes]
    ) -> dict[str, bytes]:
        """Results that are known, packed, by the names of their inputs: what stands for all that
        the result depends on besides the answers. `digest`: of questions and the answers that they
        have now.
        """
        unread = {
            self._layer.key(text): text for text in inputs.values() if text not in self._known
        }
        self._known |= {
            unread[key]: unpack(data) for key, data in self._layer.cache.load(unread).items()
        }
        keys: dict[str, bytes] = {}
        for name, text in inputs.items():
            for questions, answers in self._known.get(text, ()):
                if digest(questions) == answers:
                    keys[name] = self._layer.key(text, answers.hex())
                    break
        there = ChainMap(
            self._waiting,
            self._layer.cache.load(key for key in keys.values() if key not in self._waiting),
        )
        found = {name: there[key] for name, key in keys.items() if key in there}
        self._layer.counts.add(len(inputs), len(found))
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


def hash_of(*parts: str) -> bytes:
    """SHA-256 over texts; no two lists of texts have the same but by chance."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()


class _Pickler(pickle.Pickler):
    """Frozen dataclasses are made again by a call: setting their fields one by one takes three
    times as long.
    """

    def reducer_override(self, value: Any) -> Any:
        """Return the constructor and its arguments."""
        made = value.__class__
        read = _arguments_of(made)
        return (made, read(value)) if read is not None else NotImplemented


@functools.cache
def _arguments_of(made: type) -> Callable[[Any], tuple[Any, ...]] | None:
    """Return what reads from a value the arguments that make an equal one; for a frozen dataclass
    that takes all its fields.
    """
    parameters = getattr(made, "__dataclass_params__", None)
    if (
        parameters is None
        or not parameters.frozen
        or not all(row.init and not row.kw_only for row in fields(made))
    ):
        return None
    names = [row.name for row in fields(made)]
    return (
        attrgetter(*names)
        if len(names) > 1
        else lambda value: tuple(getattr(value, name) for name in names)
    )


def pack(value: object) -> bytes:
    """Return a value as bytes."""
    buffer = io.BytesIO()
    _Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


def unpack(data: bytes) -> Any:
    """Return the value that was packed."""
    return pickle.loads(data)
