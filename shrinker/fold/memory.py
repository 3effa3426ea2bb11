"""Folded modules of earlier runs, used again where the closed world answers what they asked as it did then."""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import partial
from pathlib import Path

from shrinker.cache import Cache, Recorded, Variants, unpack
from shrinker.facts.build import module_paths
from shrinker.facts.environment import Environment
from shrinker.fold.dependency_tracker import Answers, canonical
from shrinker.fold.module import decode
from shrinker.syntax.lines import Lines
from shrinker.values.folded import FoldedModule
from shrinker.values.refinement import Refinement
from shrinker.values.upstream import UpstreamTree


class FoldMemory:
    """Finds and keeps results; `save` writes what is new."""

    def __init__(self, tree: UpstreamTree, cache: Cache) -> None:
        """
        Args:
            tree: upstream.
            cache: of earlier runs.
        """
        self._tree = tree
        self.enabled = cache.enabled
        """False when nothing is kept for later runs: then nothing need be recorded."""
        self._modules = Variants(cache, "folded")
        paths = module_paths(tree)
        self._hashes = {module: tree.by_path[path].sha256 for module, path in paths.items()}
        self._words = partial(_words, tree.root, paths)
        self._answers: Answers | None = None

    def answers(self, environment: Environment) -> Answers:
        """The answers of an environment, kept as long as it is the current one."""
        if self._answers is None or self._answers.environment is not environment:
            self._answers = Answers(environment, self._hashes.get, self._words)
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
        found = self._modules.recall(texts, self.answers(environment).digest)
        return {path: unpack(packed) for path, packed in found.items()}

    def learn(self, path: str, refinement: Refinement, recorded: Recorded) -> None:
        """Keep a result, before those that are known."""
        self._modules.learn(self._text(path, refinement), recorded)

    def save(self) -> None:
        """Write what was learnt to the cache."""
        self._modules.save()

    def _text(self, path: str, refinement: Refinement) -> str:
        """Stands for all that a result depends on besides the environment."""
        return f"{path} {self._tree.by_path[path].sha256} {canonical(refinement)}"


def _words(root: Path, paths: Mapping[str, str], module: str) -> Set[str]:
    return Lines(decode((root / paths[module]).read_bytes())).words
