"""What is asked of a closed world: what rules and outlines say by themselves, and what else it must
answer.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property, reduce
from typing import Generic, TypeVar

from shrinker.facts.lattice import Known, Removed, TextDomain, Value
from shrinker.facts.outline import Outline
from shrinker.ruleset.match import any_module_matches, name_matches, overlap
from shrinker.ruleset.models import Answer, Default, Domain, Guard, Refusal, Registry, Ruleset
from shrinker.values.upstream import enclosing

Said = TypeVar("Said", bound=Hashable)
_WORD = re.compile(r"[^\W\d]\w*")
_BY_NAME = frozenset({"importlib", "pkgutil", "runpy"})
"""Modules of the standard library whose functions import what a text names."""


class NamePatterns(Generic[Said]):
    """What is said of names by patterns over qualified names; ``.name`` is a method or attribute of
    any receiver.
    """

    def __init__(self, pairs: Iterable[tuple[str, Said]]) -> None:
        """`pairs` are patterns, each with what it says, in the order in which they count."""
        self._by_last: dict[str, list[tuple[str, Said]]] = {}
        self._open: list[tuple[str, Said]] = []
        """Patterns whose last component is not a plain name."""
        self._known: dict[str, Sequence[Said]] = {}
        for pattern, said in pairs:
            last = pattern.rpartition(".")[2]
            (self._open if "*" in last else self._by_last.setdefault(last, [])).append(
                (pattern, said)
            )

    @property
    def words(self) -> set[str]:
        """Last components that are plain names."""
        return set(self._by_last)

    def find(self, name: str) -> Said | None:
        """Return what the first pattern says that names exactly `name`."""
        found = self.find_all(name)
        return found[0] if found else None

    def find_all(self, name: str) -> Sequence[Said]:
        """Return what all such patterns say, each once."""
        rows = self._by_last.get(name[name.rfind(".") + 1 :], ())
        if not rows and not self._open:
            # Most names by far.
            return ()
        if name not in self._known:
            matching = (
                said for pattern, said in (*rows, *self._open) if name_matches(pattern, name)
            )
            self._known[name] = list(dict.fromkeys(matching))
        return self._known[name]


class ClosedWorld(ABC):
    """What rules and outlines say of qualified names without evaluating anything, and what
    evaluation asks besides: `Environment` answers that, and scopes and evaluation are what it
    answers with.
    """

    def __init__(
        self,
        rules: Ruleset,
        outlines: Mapping[str, Outline],
        modules: frozenset[str],
        rescued: Iterable[str],
    ) -> None:
        """
        Args:
            rules: the profile's rules.
            outlines: outlines of the modules that no `remove` rule takes.
            modules: every module and package name of the tree, removed ones included.
            rescued: modules that a `remove` rule names but that kept code was found to run.
        """
        self.rules = rules
        values = [
            (fact, Known(fact.value, fact.exact, frozenset({fact.id}))) for fact in rules.facts
        ]
        self._calls = NamePatterns((p, known) for fact, known in values for p in fact.calls)
        self._names = NamePatterns(
            (p, known) for fact, known in values for p in (*fact.names, *fact.attributes)
        )
        self._instances = NamePatterns((p, known) for fact, known in values for p in fact.instances)
        self._variables = {
            variable: known for fact, known in values for variable in fact.environment
        }
        self._pure = NamePatterns((p, rule.boolean) for rule in rules.pures for p in rule.calls)
        self._domains = {
            kind: NamePatterns(
                (p, _domain(rule, kind)) for rule in rules.domains for p in getattr(rule, kind)
            )
            for kind in ("names", "lists", "calls", "tables", "registers")
        }
        self._said: dict[str, dict[str, TextDomain | None]] = {kind: {} for kind in self._domains}
        self.domain_words = frozenset().union(
            *(self._domains[kind].words for kind in ("names", "lists", "calls"))
        )
        """Identifiers of which a rule says what they never are: what is computed from them may be
        decided.
        """
        self._definitions = NamePatterns(
            (p, (r.id, r.feature)) for r in rules.removes for p in r.definitions
        )
        self._absent: dict[str, str] = {m: a.id for a in rules.absents for m in a.modules}
        self._missing: dict[str, str] = {m: a.id for a in rules.absents for m in a.attributes}
        self._takes = tuple(pattern for rule in rules.removes for pattern in rule.modules)
        members = NamePatterns((p, (r.id, r.feature)) for r in rules.removes for p in r.members)
        enumerations = (
            (f"{o.module}.{owner}", names)
            for o in outlines.values()
            for owner, names in o.members.items()
        )
        found = (
            (name, members.find(name))
            for owner, names in enumerations
            for name in (f"{owner}.{n}" for n in names)
        )
        self._members = {
            name: Removed(*rule, name, member=True) for name, rule in found if rule is not None
        }
        self._removed: dict[str, Removed | None] = {}
        self.rescued = frozenset(rescued)
        self.outlines = outlines
        self.modules = modules
        self.packages: frozenset[str] = frozenset(m.partition(".")[0] for m in outlines)
        """Top-level packages of the tree."""
        self._importing = frozenset(name for name, o in outlines.items() if _imports_by_name(o))
        self._by_name: dict[str, bool] = {}
        self.imported = frozenset((m, n) for o in outlines.values() for m, n, _ in o.aliases)
        self.starred: frozenset[str] = frozenset(
            b.module for o in outlines.values() for b in o.stars
        )
        self.read: frozenset[str] = frozenset().union(*(o.read for o in outlines.values()))
        self.shown: frozenset[str] = frozenset().union(*(o.shown for o in outlines.values()))
        """Attribute names that an f-string reads: what they name must stay, since f-strings are not
        edited.
        """
        called = ((o, path, name) for o in outlines.values() for path, name in o.set_by_calls)
        set_by_calls = {name for o, path, name in called if self._modules_at(o, path)}
        self.stored: frozenset[str] = frozenset(
            set_by_calls.union(*(o.stored for o in outlines.values()))
        )

    @cached_property
    def _listed(self) -> frozenset[str]:
        """Modules of which some code may read every name."""
        found = {name for name, outline in self.outlines.items() if outline.lists}
        return frozenset(
            found.union(
                *(self._modules_at(o, path) for o in self.outlines.values() for path in o.handed)
            )
        )

    def _modules_at(self, outline: Outline, path: str) -> set[str]:
        """Find the modules of the tree that an imported name, with what is read of it, may be."""
        root, _, rest = path.partition(".")
        bound = ((module, name) for module, name, alias in outline.aliases if alias == root)
        # `import a.b` binds `a`.
        found = {path, *(".".join(part for part in (*source, rest) if part) for source in bound)}
        return found & self.outlines.keys()

    def lists_names(self, module: str) -> bool:
        """Tell whether some code may read every name of a module, by listing them or by a computed
        name.
        """
        return module in self._listed

    @cached_property
    def words(self) -> frozenset[str]:
        """Identifiers and strings that a statement must hold for a rule to say anything about it
        directly.
        """
        absent = {m.partition(".")[0] for m in self._absent} | {
            m.rpartition(".")[2] for m in self._missing
        }
        # Of a text that is no identifier (`llama-2`), the longest word.
        parts = (_WORD.findall(text) for rule in self.rules.domains for text in rule.never)
        texts = {max(words, key=len) for words in parts if words}
        # A rule that says what something may be decides any other text: the statement is known by
        # the name.
        open_texts = (rule for rule in self.rules.domains if rule.only)
        kinds = ("names", "lists", "calls", "tables", "registers")
        texts |= {
            p.rpartition(".")[2]
            for rule in open_texts
            for kind in kinds
            for p in getattr(rule, kind)
        }
        named = (
            self._calls.words | self._names.words | self._definitions.words | self._instances.words
        )
        members = {qualified.rpartition(".")[2] for qualified in self._members}
        return frozenset(named | set(self._variables) | absent | texts | members)

    def called(self, name: str) -> Known | None:
        """Return the value that a fact gives to a call of this qualified name, or of
        ``.method``.
        """
        return self._calls.find(name)

    def named(self, name: str) -> Known | None:
        """Return the value that a fact gives to this qualified name or ``.attribute``."""
        return self._names.find(name)

    def without_objects(self, name: str) -> Known | None:
        """Return what a fact says of whether anything is an object of a class; None where no fact
        says that nothing is.
        """
        return self._instances.find(name)

    def is_pure(self, function: str) -> bool:
        """True for a function of the tree, or a ``.method``, that a rule declares free of side
        effects, or fixes.
        """
        return any(
            said.find(function) is not None
            for said in (self._calls, self._pure, self._domains["calls"])
        )

    def is_boolean(self, method: str) -> bool:
        """True for a ``.method`` that a rule says answers `True` or `False`."""
        return self._pure.find(method) is True

    def domain(self, name: str, kind: str = "names") -> TextDomain | None:
        """Return what a name, as it is written, below its module, never is; `kind` is ``names``
        (and lists of such texts), ``calls``, ``tables`` or ``registers``.
        """
        known = self._said[kind]
        if name not in known:
            said = self._domains[kind].find_all(name)
            other = self.domain(name, "lists") if kind == "names" and not said else None
            known[name] = reduce(TextDomain.and_also, said) if said else other
        return known[name]

    def missing_attribute(self, name: str) -> Removed | None:
        """Return an attribute of an installed module that is not there on this platform."""
        rule = self._missing.get(name)
        return (
            None
            if rule is None
            else Removed(rule, "not installed beside CUDA", name, error="AttributeError")
        )

    def removed_definition(self, name: str) -> Removed | None:
        """Return a function or class that a rule takes out of a module that stays."""
        rule = self._definitions.find(name)
        return None if rule is None else Removed(*rule, name)

    def variable(self, name: str) -> Known | None:
        """Return the value that a fact gives to an environment variable."""
        return self._variables.get(name)

    def is_absent(self, module: str) -> str | None:
        """Return rule that says this module outside the tree is not installed."""
        while module and module not in self._absent:
            module = module.rpartition(".")[0]
        return self._absent.get(module)

    def defaults_in(self, module: str) -> tuple[Default, ...]:
        """Return the rules that say what takes over from a default of a module."""
        return tuple(
            r for r in self.rules.defaults if any(overlap(p, f"{module}.**") for p in r.where)
        )

    @cached_property
    def _unknown(self) -> frozenset[str]:
        """Refusals of what upstream knows nothing of."""
        bound = [rule for rule in self.rules.refusals if rule.modules]
        return frozenset(
            r.id
            for r in bound
            if not any(any_module_matches(r.modules, name) for name in self.modules)
        )

    def refusals_in(self, module: str) -> tuple[Refusal | Answer, ...]:
        """Return the rules that have functions of a module look at an argument, but for what
        upstream does not know.
        """
        asked: tuple[Refusal | Answer, ...] = (*self.rules.refusals, *self.rules.answers)
        known = (rule for rule in asked if rule.id not in self._unknown)
        return tuple(
            rule for rule in known if any(overlap(f, f"{module}.**") for f in rule.functions)
        )

    def guards_of(self, module: str) -> tuple[Guard, ...]:
        """Return the rules that guard what is imported in a module."""
        return tuple(rule for rule in self.rules.guards if rule.module == module)

    def registries_in(self, module: str) -> tuple[Registry, ...]:
        """Return the rules about tables of which rows are written in a module."""
        return tuple(
            rule for rule in self.rules.registries if any_module_matches(rule.modules, module)
        )

    def only_when_asked(self, name: str) -> bool:
        """Tell whether a rule says that uses of this removed name only run when its feature is
        asked for.
        """
        return any(
            name_matches(p, name) for rule in self.rules.removes for p in rule.only_when_asked
        )

    # What the tree says

    @cached_property
    def _frame_readers(self) -> list[str]:
        others = tuple(pattern for rule in self.rules.outsides for pattern in rule.frames)
        readers = (name for name, outline in self.outlines.items() if outline.reads_frames)
        return [name for name in readers if not any_module_matches(others, name)]

    def reads_frames(self) -> bool:
        """Tell whether any module may read locals of functions of the tree through their frames."""
        return bool(self._frame_readers)

    def outline_of(self, module: str) -> Outline | None:
        """Return the outline of a module; None for a module without one."""
        return self.outlines.get(module)

    def removed_member(self, name: str) -> Removed | None:
        """Return a member of an enumeration that no value of the closed world equals."""
        return self._members.get(name)

    def removed_module(self, module: str) -> Removed | None:
        """Return the `remove` rule that takes a module of the tree, if one does."""
        if module not in self._removed:
            stays = (
                module not in self.modules
                or module in self.rescued
                or not any_module_matches(self._takes, module)
            )
            rule = (
                None
                if stays
                else next((each for each in self.rules.removes if each.takes_module(module)), None)
            )
            self._removed[module] = (
                None if rule is None else Removed(rule.id, rule.feature, module, module)
            )
        return self._removed[module]

    def may_import_by_name(self, function: str) -> bool:
        """True for a function of the tree whose module imports by name, or uses a module of the
        tree that does.
        """
        module = next((name for name in enclosing(function) if name in self.outlines), "")
        if module not in self._by_name:
            used = (
                {name for m, n, _ in self.outlines[module].aliases for name in (m, f"{m}.{n}")}
                if module
                else set()
            )
            self._by_name[module] = not self._importing.isdisjoint({module, *used})
        return self._by_name[module]

    def named_by_string(self, text: object) -> Removed | None:
        """Return the removed module that a string names: ``a.b``, ``a.b.Name`` or ``a.b:Name``."""
        if not isinstance(text, str) or not text.startswith("sglang."):
            return None
        dotted = text.replace(":", ".")
        if not all(part.isidentifier() for part in dotted.split(".")):
            return None
        return self.removed_module(dotted) or self.removed_module(dotted.rpartition(".")[0])

    @abstractmethod
    def resolve(self, module: str, name: str) -> Value:
        """Return what `name` is in `module` once that module is imported."""

    @abstractmethod
    def interpret(self, name: str) -> Value:
        """Return constant result of a short function of the tree; UNKNOWN when it has none, and for
        one that asks for itself.
        """


def _imports_by_name(outline: Outline) -> bool:
    """True for a module that imports what imports by name."""
    return any(module.partition(".")[0] in _BY_NAME for module, _, _ in outline.aliases)


def _domain(rule: Domain, kind: str) -> TextDomain:
    return TextDomain(
        frozenset(rule.never), frozenset({rule.id}), frozenset(rule.only) or None, kind == "lists"
    )
