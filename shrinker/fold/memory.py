"""Folded modules of earlier runs, used again where the closed world answers as it did then.

There are two ways to know that it does. Two environments built from outlines of equal skeletons are the same function:
then only the module's own text counts, and nothing is asked. Else what the module asked is asked again.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from shrinker.cache import Cache, hash_of, pack, unpack
from shrinker.facts.build import module_paths
from shrinker.facts.environment import Environment
from shrinker.facts.stored import POOLED, skeleton
from shrinker.fold.dependency_tracker import Answers, Question, canonical
from shrinker.fold.propagate.refinement import Refinement
from shrinker.ruleset.models import Ruleset
from shrinker.values.folded import FoldedModule
from shrinker.values.upstream import UpstreamTree

T = TypeVar("T")

MADE_OF = ("rules", "outlines", "modules", "rescued")
"""Everything that an environment is built from; `FoldMemory.identity` reads each of them."""

_VARIANTS = 6
"""How many closed worlds are kept with one text: one run folds a module in several."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One module folded in one closed world."""

    questions: tuple[Question, ...]
    digest: bytes
    """Of the answers."""
    packed: bytes
    """The `FoldedModule`."""


def record(module: FoldedModule, questions: tuple[Question, ...], answers: Answers) -> Recorded:
    """What is kept of one folding.

    Args:
        module: the result.
        questions: what was asked for it.
        answers: what was answered.
    """
    return Recorded(questions, answers.digest(questions), pack(module))


_Snapshot = dict[str, bytes | None]
"""Path, text and refinement, to the packed module in one environment; None where that is not known."""


class FoldMemory:
    """Finds and keeps results; `save` writes what is new."""

    def __init__(self, tree: UpstreamTree, rules: Ruleset, cache: Cache) -> None:
        """
        Args:
            tree: upstream.
            rules: all of them: a result is used again under the same rules only.
            cache: of earlier runs.
        """
        self._tree = tree
        self._cache = cache
        salt = rules.model_dump_json() if cache.enabled else ""
        self._worlds = cache.layer("folded worlds", salt)
        self._rounds = cache.layer("rounds", salt)
        self._modules = cache.layer("folded", salt)
        self._variants: dict[str, list[Recorded]] = {}
        self._new: set[str] = set()
        self._snapshots: dict[str, _Snapshot] = {}
        self._changed: set[tuple[str, str]] = set()
        self._hashes = {module: tree.by_path[path].sha256 for module, path in module_paths(tree).items()}
        self._answers: Answers | None = None
        self._known: dict[Environment, str] = {}

    @property
    def enabled(self) -> bool:
        """False when nothing is kept for later runs: then nothing need be recorded."""
        return self._cache.enabled

    def answers(self, environment: Environment) -> Answers:
        """The answers of an environment, kept as long as it is the current one."""
        if self._answers is None or self._answers.environment is not environment:
            self._answers = Answers(environment, self._hashes.get)
        return self._answers

    def recall(self, wanted: Mapping[str, Refinement], environment: Environment) -> dict[str, FoldedModule]:
        """The modules among these whose result is known for this environment.

        Args:
            wanted: path of each module, and what is known of it besides its text.
            environment: the closed world.
        """
        if not self._cache.enabled:
            return {}
        texts = {path: self._text(path, refinement) for path, refinement in wanted.items()}
        snapshot = self._snapshot(environment, texts.values())
        packed = {path: kept for path, text in texts.items() if (kept := snapshot[text]) is not None}
        self._modules.count(len(texts), len(packed))
        missing = {path: text for path, text in texts.items() if path not in packed}
        unread = {text: self._modules.key(text) for text in missing.values() if text not in self._variants}
        for text, data in self._modules.load(unread, counted=False).items():
            self._variants[text] = unpack(data)
        answers = self.answers(environment)
        for path, text in missing.items():
            for recorded in self._variants.get(text, ()):
                if answers.digest(recorded.questions) == recorded.digest:
                    packed[path] = recorded.packed
                    self._keep(text, recorded.packed, environment)
                    self._modules.count(0, 1)
                    break
        return {path: unpack(data) for path, data in packed.items()}

    def learn(self, path: str, refinement: Refinement, recorded: Recorded, environment: Environment) -> None:
        """Keep a result, before those that are known."""
        text = self._text(path, refinement)
        known = self._variants.setdefault(text, [])
        known.insert(0, recorded)
        del known[_VARIANTS:]
        self._new.add(text)
        self._keep(text, recorded.packed, environment)

    def once(self, kind: str, environment: Environment, parts: Iterable[str], compute: Callable[[], T]) -> T:
        """What was computed in this closed world before, found again or computed.

        Args:
            kind: of the answer.
            environment: the closed world.
            parts: all else that the answer depends on.
            compute: computes it.
        """
        if not self._cache.enabled:
            return compute()
        keys = {kind: self._rounds.key(kind, "\n".join(parts), self.identity(environment))}
        packed = self._rounds.load(keys)
        if not packed:
            packed = {kind: pack(compute())}
            self._rounds.save(keys, packed)
        found: T = unpack(packed[kind])
        return found

    def save(self) -> None:
        """Write what was learnt to the cache."""
        new, self._new = sorted(self._new), set()
        self._modules.save(
            {text: self._modules.key(text) for text in new}, {text: pack(self._variants[text]) for text in new}
        )
        fresh, self._changed = sorted(self._changed), set()
        self._worlds.save(
            {f"{world} {text}": self._worlds.key(world, text) for world, text in fresh},
            {f"{world} {text}": pack(self._snapshots[world][text]) for world, text in fresh},
        )

    def _snapshot(self, environment: Environment, texts: Iterable[str]) -> _Snapshot:
        """What is known in an environment, these texts among the rest."""
        world = self.identity(environment)
        known = self._snapshots.setdefault(world, {})
        unread = {text: self._worlds.key(world, text) for text in texts if text not in known}
        if unread:
            found = self._worlds.load(unread, counted=False)
            known |= {text: unpack(found[text]) if text in found else None for text in unread}
        return known

    def _keep(self, text: str, kept: bytes, environment: Environment) -> None:
        self._snapshot(environment, (text,))[text] = kept
        self._changed.add((self.identity(environment), text))

    def identity(self, environment: Environment) -> str:
        """Hash (hex) of what an environment is built from besides the rules; equal ones answer alike."""
        if environment not in self._known:
            assert tuple(inspect.signature(Environment).parameters) == MADE_OF, "an argument is missing in MADE_OF"
            outlines = "\n".join(f"{name}={skeleton(it)}" for name, it in sorted(environment.outlines.items()))
            pooled = "\n".join(" ".join(sorted(getattr(environment, name))) for name in sorted(POOLED))
            parts = (outlines, "\n".join(sorted(environment.modules)), repr(sorted(environment.rescued)), pooled)
            self._known[environment] = hash_of(*parts).hex()
        return self._known[environment]

    def _text(self, path: str, refinement: Refinement) -> str:
        """Stands for all that a result depends on besides the environment."""
        return f"{path} {self._tree.by_path[path].sha256} {canonical(refinement)}"
