"""Both trees, as every check gets them: what several checks ask is read once, when the first one
asks; and what a check saw in them.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from shrinker.cache import Cache
from shrinker.cache.workers import map_cached
from shrinker.check.reader import read_symbols
from shrinker.check.resolve import Families, Modules
from shrinker.check.symbols import SYMBOLS, ClassSymbols, ModuleSymbols
from shrinker.check.users import Users
from shrinker.ruleset import Ruleset, Shape
from shrinker.ruleset.match import any_name_matches
from shrinker.source.cache import sha256_of
from shrinker.source.crates import modules_by_file
from shrinker.syntax.parsing import parsed
from shrinker.syntax.walk import statements
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import EmittedFile, Finding
from shrinker.values.upstream import UpstreamTree, modules_of

_TABLE = re.compile(r"E=(\d+),N=(\d+),")


@dataclass(frozen=True)
class RuleIndex:
    """What the rules say that goes, by the names that code writes: a second reading of them, apart
    from the one that folds. No test is decided here.
    """

    rules: Ruleset

    def unregistered(self, function: str, text: str) -> bool:
        """Tell whether a rule says that nothing is asked for which this function files under this
        text.
        """
        rules = (rule for rule in self.rules.domains if any_name_matches(rule.registers, function))
        return any(text in rule.never or (rule.only and text not in rule.only) for rule in rules)

    def removes_member(self, written: str) -> bool:
        """Tell whether a rule names a member of an enumeration, by its class as modules write it,
        as a removed one.
        """
        # Where the class is does not matter: a module may have it from anywhere.
        members = tuple(
            ".".join(p.split(".")[-2:]) for rule in self.rules.removes for p in rule.members
        )
        return written.count(".") == 1 and any_name_matches(members, written)

    def removes_module(self, dotted: str) -> bool:
        """Tell whether a rule names this module, or one that it would be in, as a removed one."""
        return any(rule.takes_module(dotted) for rule in self.rules.removes)

    def removes(self, path: str) -> bool:
        """Tell whether a rule names this file as a removed one: neither it spares it, nor may one
        of its shapes ask for the table.
        """
        taking = (rule for rule in self.rules.removes if rule.takes_path(path))
        return any(not (rule.shapes and _may_be_asked_for(path, rule.shapes)) for rule in taking)


def _may_be_asked_for(path: str, shapes: Iterable[Shape]) -> bool:
    """True for a tuning table whose experts and width are a rank's share of one of these models,
    and for what names no shape. Read from the table's side: its experts times the ranks are the
    routed ones and at most 128 redundant ones, where up to eight of them may be shared ones.
    """
    named = _TABLE.match(path.rpartition("/")[2])
    if named is None:
        return True
    experts, width = map(int, named.groups())
    fitting = (shape for shape in shapes if shape.width % width == 0 and shape.width // width <= 64)
    shares = range(max(1, experts - 8), experts + 1)
    # The fewest ranks whose shares are all experts, and the redundant ones that these make.
    return any(
        -(-each.experts // share) <= 320 and -each.experts % share <= 128
        for each in fitting
        for share in shares
    )


@dataclass(frozen=True)
class Trees:
    """Upstream, as the `source` phase gave it, and what was generated of it, in the layout of
    upstream's repository.
    """

    source: UpstreamTree
    out: Path
    manifest: Manifest
    rules: Ruleset | None = None
    """Those by which the tree was made; without them the checks that need them look at nothing."""
    jobs: int = 1
    """Number of processes."""
    cache: Cache = field(default_factory=Cache)
    """What was found of files before; by default nothing. Every file is hashed in any case."""

    @property
    def stated(self) -> Ruleset:
        """The rules; none of any kind where they are not known."""
        return self.rules or Ruleset()

    @cached_property
    def recorded(self) -> list[str]:
        """Paths that the manifest names."""
        return [entry.path for entry in self.manifest.files]

    @cached_property
    def python(self) -> dict[str, EmittedFile]:
        """Python files that are there, by path."""
        return {
            e.path: e
            for e in self.manifest.files
            if e.path.endswith(".py") and (self.out / e.path).is_file()
        }

    @cached_property
    def changed(self) -> dict[str, EmittedFile]:
        """Those of them that are not as upstream wrote them."""
        return {
            path: e for path, e in self.python.items() if e.changed and path in self.source.by_path
        }

    @cached_property
    def hashes(self) -> dict[str, str]:
        """SHA-256 of the Python files: of the bytes that are there, since the manifest may be what
        is wrong.
        """
        return {path: sha256_of(self.out / path) for path in self.python}

    @cached_property
    def kept(self) -> dict[str, ModuleSymbols]:
        """Symbols of every Python file of the generated tree, by path."""
        return self.read(self.out, self.hashes)

    @cached_property
    def before(self) -> dict[str, ModuleSymbols]:
        """Upstream's symbols of the changed files, by path."""
        return self.read(
            self.source.root, {path: self.source.by_path[path].sha256 for path in self.changed}
        )

    def read(self, root: Path, hashes: Mapping[str, str]) -> dict[str, ModuleSymbols]:
        """Return symbols of files of one of the trees, by path."""
        return map_cached(
            partial(read_symbols, root), self.cache.layer(SYMBOLS), hashes, root, jobs=self.jobs
        )

    def pairs(self) -> Iterator[tuple[ModuleSymbols, ModuleSymbols]]:
        """Return symbols of the changed files, with upstream's."""
        return (
            (symbols, self.before[path])
            for path, symbols in self.kept.items()
            if path in self.before
        )

    def classes(self) -> Iterator[tuple[ModuleSymbols, ClassSymbols, ClassSymbols]]:
        """Yield classes of changed files that both trees have: symbols of the generated file, and
        of both classes, the generated one's first.
        """
        for symbols, upstream in self.pairs():
            there = {each.name: each for each in symbols.classes}
            yield from (
                (symbols, there[each.name], each) for each in upstream.classes if each.name in there
            )

    def decided_lines(self, path: str) -> set[int]:
        """Return lines of upstream's file under tests that the generated one does not ask any more:
        *capabilities* judges these.
        """
        before, after = (
            parsed((root / path).read_bytes(), path) for root in (self.source.root, self.out)
        )
        if before is None or after is None:
            return set()
        asked = {ast.unparse(node.test) for node in statements(after) if isinstance(node, ast.If)}
        gone = (
            n
            for n in statements(before)
            if isinstance(n, ast.If) and ast.unparse(n.test) not in asked
        )
        return {
            line
            for node in gone
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }

    @cached_property
    def modules(self) -> Modules:
        """Of the generated tree."""
        compiled = modules_by_file(self.recorded, lambda path: (self.out / path).read_bytes())
        return Modules(self.out, {**compiled, **modules_of(self.recorded)}, self.kept)

    @cached_property
    def source_modules(self) -> Modules:
        """Of upstream."""
        theirs = self.source.by_path
        same = {
            path: s
            for path, s in self.kept.items()
            if path in theirs and theirs[path].sha256 == self.hashes[path]
        }
        compiled = modules_by_file(theirs, self.source.read)
        return Modules(self.source.root, {**compiled, **modules_of(theirs)}, same)

    @cached_property
    def families(self) -> Families:
        """Classes of the generated tree."""
        return Families(self.kept.values(), self.modules)

    @cached_property
    def handed_texts(self) -> dict[str, tuple[str, int]]:
        """Texts that calls of the generated tree are given, each with one of the places."""
        return {
            text: (s.path, line)
            for s in self.kept.values()
            for text, line in s.handed_texts.items()
        }

    @cached_property
    def users(self) -> Users:
        """Who uses what of upstream, by its own text."""
        return Users(self.source)

    @cached_property
    def index(self) -> RuleIndex:
        """What the rules say by names."""
        return RuleIndex(self.stated)


@dataclass(slots=True)
class Seen:
    """What checks looked at, and what they found."""

    check: str
    counts: Counter[str] = field(default_factory=Counter)
    """How many things were looked at, by what they are."""
    findings: list[Finding] = field(default_factory=list)
    inherited: list[Finding] = field(default_factory=list)
    """What upstream gets wrong in the same place."""
    open: list[Finding] = field(default_factory=list)
    """Questions, see `Evidence.open`."""

    def look(self, times: int = 1, check: str = "") -> None:
        """Count what was looked at, by default under the check's own name."""
        self.counts[check or self.check] += times

    def find(
        self, path: str, line: int, message: str, *, check: str = "", inherited: bool = False
    ) -> None:
        """Say what is wrong; `inherited` where upstream has it, too."""
        (self.inherited if inherited else self.findings).append(
            Finding(check or self.check, path, line, message)
        )

    def ask(self, path: str, line: int, message: str, *, check: str = "") -> None:
        """Say what somebody has to answer for."""
        self.open.append(Finding(check or self.check, path, line, message))
