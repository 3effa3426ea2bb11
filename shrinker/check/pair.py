"""A changed Python file and what it was made of, as the checks of single files get them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from shrinker.check import allowances
from shrinker.check.condition_evaluator import Arm, ConditionEvaluator
from shrinker.check.reader import symbols_of
from shrinker.check.rule_index import RuleIndex
from shrinker.check.symbols import ModuleSymbols
from shrinker.check.tokens import Tokens, split
from shrinker.syntax.parsing import parsed
from shrinker.values.outcome import EmittedFile


@dataclass
class FilePair:
    """Both texts of a file; what is read of them is read once."""

    entry: EmittedFile
    data: bytes
    tree: ast.Module
    """Of the generated file."""
    source: bytes
    """Upstream's file."""
    replaced: tuple[tuple[str, str], ...]
    """Texts that rules replace, from the manifest."""
    index: RuleIndex | None

    @property
    def path(self) -> str:
        """In the layout of upstream's repository."""
        return self.entry.path

    @cached_property
    def symbols(self) -> ModuleSymbols:
        """Of the generated file."""
        return symbols_of(self.tree, self.path, self.data)

    @cached_property
    def source_symbols(self) -> ModuleSymbols | None:
        """Of upstream's file; None for one that is not Python."""
        return None if self.source_tree is None else symbols_of(self.source_tree, self.path, self.source)

    @cached_property
    def source_tree(self) -> ast.Module | None:
        """None for a file that is not Python."""
        return parsed(self.source, self.path)

    @cached_property
    def text(self) -> str:
        """Of the generated file."""
        return self.data.decode("utf-8-sig")

    @cached_property
    def lines(self) -> list[Tokens]:
        """Of the generated file."""
        return split(self.text)

    @cached_property
    def source_lines(self) -> list[Tokens]:
        """Of upstream's file."""
        return split(self.source.decode("utf-8-sig"))

    @cached_property
    def defaults(self) -> allowances.Defaults:
        """Tokens that rules put in the place of others."""
        return allowances.default_tokens(self.replaced)

    @cached_property
    def arms(self) -> list[Arm]:
        """What never runs of upstream's file by the rules; nothing where there are none."""
        if self.source_tree is None or self.index is None:
            return []
        module = self.symbols.module or ""
        return list(ConditionEvaluator(self.source_tree, self.source_lines, module, self.index).refuted())
