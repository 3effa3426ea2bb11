"""Which identifiers, strings and modules belong to another platform, from the rules; and predicates
that may ask for a platform that no rule knows yet.

Upstream gains platforms: a function `is_x()` that is defined beside known platform predicates, or
imported together with two of them, and that a condition of the generated tree asks, is a suspect
even when its word says nothing.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise

from shrinker.ruleset import Ruleset
from shrinker.ruleset.match import any_module_matches
from shrinker.syntax.names import is_special
from shrinker.syntax.ranges import Lines
from shrinker.values.leftovers import Kind, Suspect
from shrinker.values.relations import grouped

_WORDS = re.compile(r"\w+")
_PARTS = re.compile(r"[A-Za-z0-9]+")
# `ROCm` is one word by the first split and two by this one; `NPUEnv` the other way round.
_CAMEL = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")
_EVERYWHERE = re.compile(r"sglang\.\*\*\.[\w*]+")
_CONSTANT = re.compile(r"^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$")
_PREDICATE = re.compile(
    r"^_*(?:is|are|use|uses|has|have|can|should|support|supports|enable|enabled|with|need|needs)_\w+$"
    r"|_(?:available|supported|enabled|support)$",
    re.IGNORECASE,
)
ENOUGH = 2
"""Known predicates in whose company an unknown one is a suspect."""

_IMPORT = re.compile(
    r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]*(?:\(([^)]*)\)|((?:[^\n\\]|\\\n)*))", re.MULTILINE
)
_DEFINITION = re.compile(r"^def[ \t]+(\w+)\(\s*\)", re.MULTILINE)
_COMMENT = re.compile(r"#[^\n]*")
_QUESTION = re.compile(r"_*is_\w+")


class Words:
    """Words of any letters, in which ``*`` stands for any text."""

    def __init__(self, words: Iterable[str]) -> None:
        lower = {word.lower() for word in words}
        self._plain = {word for word in lower if "*" not in word}
        texts = sorted(re.escape(word).replace(r"\*", r"\w*") for word in lower - self._plain)
        self._pattern = re.compile("|".join(texts) or "(?!)")
        self._seen: dict[str, bool] = {}

    def within(self, text: str) -> bool:
        """Tell whether the identifier or string holds one of the words."""
        if text not in self._seen:
            # `__aiter__` is Python's.
            tokens = set[str]() if is_special(text) else {*_tokens(text)}
            self._seen[text] = not tokens.isdisjoint(self._plain) or any(
                map(self._pattern.fullmatch, tokens)
            )
        return self._seen[text]


def _tokens(text: str) -> Iterator[str]:
    for part in _PARTS.findall(text):
        pieces = _CAMEL.findall(part)
        # `ROCmBackend`
        joined = (a + b for a, b in pairwise(pieces) if a.isupper() and b[:1].isupper())
        yield from map(str.lower, (part, *pieces, *joined))


def foreign_words(rules: Ruleset) -> Words:
    """Return words of other platforms."""
    return Words(
        word for platform in rules.platforms if not platform.own for word in platform.words
    )


class Vocabulary:
    """Answers by the rules of one profile: `[[platform]]` rules, and whatever the others name.

    Pickled to the workers.
    """

    def __init__(self, rules: Ruleset) -> None:
        facts = [fact for fact in rules.facts if fact.id not in rules.scope]
        calls = {
            pattern for fact in facts if isinstance(fact.value, bool) for pattern in fact.calls
        }
        stated = {p for fact in facts if not fact.value for p in (*fact.names, *fact.attributes)}
        named = {p for p in calls | stated if p.startswith((".", "sglang."))}
        last = {pattern.rpartition(".")[2] for pattern in named}
        predicates = {p for platform in rules.platforms for p in platform.predicates}
        self.predicates = predicates.union(name for name in last if name and "*" not in name)
        """Identifiers: the last components of what facts of the tree decide, and `[[platform]]
        predicates`.
        """
        self.outside = {p for p in (calls | stated) - named if "*" not in p}
        """Dotted names outside the tree that a fact says are false (``torch.version.hip``)."""
        self.variables = {v for fact in facts for v in fact.environment}
        """Environment variables that a fact names."""
        domains = (domain for domain in rules.domains if domain.id not in rules.scope)
        spoken = ((d, (*d.names, *d.lists, *d.calls, *d.tables, *d.registers)) for d in domains)
        self.texts = {
            text
            for d, names in spoken
            if any(map(_EVERYWHERE.fullmatch, names))
            for text in d.never
        }
        """Texts that a domain never is which speaks of a name wherever it stands: they are traces
        wherever they stand. A domain that speaks of certain places (the device of the server) says
        nothing of a text elsewhere: tensors live on the CPU.
        """
        self.absent = tuple(sorted({m for rule in rules.absents for m in rule.modules}))
        self.removes = rules.removes
        self.foreign = foreign_words(rules)
        self.own = Words(
            word for platform in rules.platforms if platform.own for word in platform.words
        )
        """Of the platform that is served, and of what every platform has."""

    @cached_property
    def _others(self) -> frozenset[str]:
        """Further words by which a line is looked at: parts of names outside the tree, of texts and
        of absent modules.
        """
        absent, outside = (
            (m.partition(".")[0] for m in self.absent),
            (n.rpartition(".")[2] for n in self.outside),
        )
        return frozenset(_WORDS.findall(" ".join((*self.texts, *absent, *outside))))

    def hot(self, lines: Lines) -> set[str]:
        """Return words of a text whose lines may hold a leftover."""
        asked = (
            word
            for word in lines.words
            if word.lstrip("_").startswith("is_") and f"{word}()" in lines.text
        )
        return {
            w for w in lines.words if w in self._others or self.name_kind(w, called=True)
        }.union(asked)

    def name_kind(self, name: str, called: bool) -> Kind | None:
        """Kind of an identifier, None when it is of no other platform.

        It is `called`, defined as a function or imported, or read as a variable.
        """
        if name in self.predicates:
            return "predicates"
        if name in self.variables:
            return "environment"
        bare = name.lstrip("_")
        if bare in self.predicates:
            return "predicates" if called else "flags"
        if not self.foreign.within(name):
            return None
        return "names" if not _PREDICATE.search(name) else "predicates" if called else "flags"

    def text_kind(self, text: str) -> Kind | None:
        """Kind of a string, None when it is of no other platform."""
        if text in self.variables:
            return "environment"
        if text in self.texts:
            return "strings"
        if not self.foreign.within(text):
            return None
        return "environment" if is_constant(text) else "strings"

    def is_absent(self, module: str) -> bool:
        """True for a module that an `absent` rule says is not installed."""
        return any_module_matches(self.absent, module)


def is_constant(name: str) -> bool:
    """True for a name such as `SGLANG_USE_AITER`."""
    return _CONSTANT.match(name) is not None


def companies(module: str, upstream: str, words: Vocabulary) -> Iterator[Suspect]:
    """Unknown predicates of one file that stand beside enough known ones; who asks them is not
    known yet. Read from upstream's text: folding takes the imports of known predicates away.
    """
    known = words.predicates
    groups = [(module, set(_DEFINITION.findall(upstream)))]
    for source, inside, plain in _IMPORT.findall(upstream):
        rows = _COMMENT.sub("", inside or plain).replace("\\", " ").split(",")
        groups.append((source, {row.split()[0] for row in rows if row.split()}))
    for origin, names in groups:
        beside = tuple(sorted(names & known))
        if len(beside) >= ENOUGH:
            unknown = sorted(
                n for n in names - known if _QUESTION.fullmatch(n) and not words.own.within(n)
            )
            yield from (Suspect(name, origin, beside, ()) for name in unknown)


def suspects(found: Iterable[Suspect], asked: Iterable[tuple[str, str, int]]) -> Iterator[Suspect]:
    """Of those `found` in kept files of upstream the ones that are `asked`: by name, path and line
    in conditions of the generated tree.
    """
    sites = grouped((name, (path, line)) for name, path, line in asked)
    for name, group in sorted(
        grouped((each.name, each) for each in found if each.name in sites).items()
    ):
        defined = max((each.defined for each in group), key=lambda text: (len(text), text))
        beside = max((each.beside for each in group), key=lambda names: (len(names), names))
        yield Suspect(name, defined, beside, tuple(sorted({*sites[name]})))
