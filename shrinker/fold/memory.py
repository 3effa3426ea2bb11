"""Folded modules of earlier runs, used again where the closed world answers what they asked as it did then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shrinker.cache import Cache, pack, unpack
from shrinker.facts.build import module_paths
from shrinker.facts.environment import Environment
from shrinker.fold.dependency_tracker import Answers, Question, canonical
from shrinker.ruleset.models import Ruleset
from shrinker.values.folded import FoldedModule
from shrinker.values.refinement import Refinement
from shrinker.values.upstream import UpstreamTree

_VARIANTS = 24
"""How many closed worlds are kept with one text: one run folds a module in several, and people go back and forth between
upstreams in which most texts are the same."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One module folded in one closed world."""

    questions: tuple[Question, ...]
    """What was asked for it, in order."""
    digest: bytes
    """Of the answers."""
    packed: bytes
    """The `FoldedModule`."""


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
        self.enabled = cache.enabled
        """False when nothing is kept for later runs: then nothing need be recorded."""
        self._modules = cache.layer("folded", rules.model_dump_json() if cache.enabled else "")
        self._variants: dict[str, list[Recorded]] = {}
        self._new: set[str] = set()
        self._hashes = {module: tree.by_path[path].sha256 for module, path in module_paths(tree).items()}
        self._answers: Answers | None = None

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
        if not self.enabled:
            return {}
        texts = {path: self._text(path, refinement) for path, refinement in wanted.items()}
        unread = {text: self._modules.key(text) for text in texts.values() if text not in self._variants}
        for text, data in self._modules.load(unread, counted=False).items():
            self._variants[text] = unpack(data)
        answers = self.answers(environment)
        found: dict[str, FoldedModule] = {}
        for path, text in texts.items():
            known = self._variants.get(text, ())
            same = next((each for each in known if answers.digest(each.questions) == each.digest), None)
            if same is not None:
                found[path] = unpack(same.packed)
        self._modules.count(len(texts), len(found))
        return found

    def learn(self, path: str, refinement: Refinement, recorded: Recorded) -> None:
        """Keep a result, before those that are known."""
        text = self._text(path, refinement)
        known = self._variants.setdefault(text, [])
        known.insert(0, recorded)
        del known[_VARIANTS:]
        self._new.add(text)

    def save(self) -> None:
        """Write what was learnt to the cache."""
        new, self._new = sorted(self._new), set()
        keys = {text: self._modules.key(text) for text in new}
        self._modules.save(keys, {text: pack(self._variants[text]) for text in new})

    def _text(self, path: str, refinement: Refinement) -> str:
        """Stands for all that a result depends on besides the environment."""
        return f"{path} {self._tree.by_path[path].sha256} {canonical(refinement)}"
