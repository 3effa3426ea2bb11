"""The closed world as a function from qualified names to values: rules plus outlines, memoised."""

import ast
import builtins
import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from shrinker.facts.bound import bound_value, liveness
from shrinker.facts.effects import interpret
from shrinker.facts.lattice import UNKNOWN, Known, Ref, Removed, TextDomain, Value
from shrinker.facts.outline import Outline
from shrinker.facts.scopes import ModuleScope
from shrinker.facts.world import ClosedWorld, NamePatterns
from shrinker.ruleset.match import any_module_matches, overlap
from shrinker.ruleset.models import Answer, Refusal, Ruleset
from shrinker.syntax.bindings import Binding

_BUILTINS = frozenset(dir(builtins))
_WORD = re.compile(r"[^\W\d]\w*")


class Environment(ClosedWorld):
    """Answers `what is this name in the closed world?` for every module of the tree."""

    def __init__(
        self,
        rules: Ruleset,
        outlines: Mapping[str, Outline],
        modules: frozenset[str],
        rescued: frozenset[str] = frozenset(),
    ) -> None:
        """
        Args:
            rules: the profile's rules.
            outlines: outlines of the modules that no `remove` rule takes.
            modules: every module and package name of the tree, removed ones included.
            rescued: modules that a `remove` rule names but that kept code was found to run.
        """
        super().__init__(rules)
        self.rescued = rescued
        self.outlines = outlines
        self.modules = modules
        self._members = _members(rules, outlines)
        self.packages = frozenset(m.partition(".")[0] for m in outlines)
        self._memo: dict[tuple[str, str], Value] = {}
        self._removed: dict[str, Removed | None] = {}
        self._constant: dict[str, bool] = {}
        self._interpreting: set[str] = set()
        self._hot: dict[str, frozenset[str]] = {}
        self.imported: frozenset[tuple[str, str]] = frozenset(
            (m, n) for o in outlines.values() for m, n, _ in o.aliases
        )
        self.starred: frozenset[str] = frozenset(b.module for o in outlines.values() for b in o.stars)
        self.read: frozenset[str] = frozenset().union(*(o.read for o in outlines.values()))
        self.shown: frozenset[str] = frozenset().union(*(o.shown for o in outlines.values()))
        """Attribute names that an f-string reads: what they name must stay, since f-strings are not edited."""
        self.stored: frozenset[str] = frozenset().union(*(o.stored for o in outlines.values()))

    @cached_property
    def words(self) -> frozenset[str]:
        """Identifiers and strings that a statement must hold for a rule to say anything about it directly."""
        absent = {m.partition(".")[0] for m in self._absent} | {m.rpartition(".")[2] for m in self._missing}
        # Of a text that is no identifier (`llama-2`), the longest word.
        parts = (_WORD.findall(text) for rule in self.rules.domains for text in rule.never)
        texts = {max(words, key=len) for words in parts if words}
        # A rule that says what something may be decides any other text: the statement is known by the name.
        open_texts = (rule for rule in self.rules.domains if rule.only)
        texts |= {p.rpartition(".")[2] for rule in open_texts for p in (*rule.names, *rule.lists, *rule.calls)}
        named = self._calls.words | self._names.words | self._definitions.words
        members = {qualified.rpartition(".")[2] for qualified in self._members}
        return frozenset(named | set(self._variables) | absent | texts | members)

    def removed_member(self, name: str) -> Removed | None:
        return self._members.get(name)

    def removed_module(self, module: str) -> Removed | None:
        if module not in self._removed:
            stays = module not in self.modules or module in self.rescued or not any_module_matches(self._takes, module)
            rule = None if stays else next((each for each in self.rules.removes if each.takes_module(module)), None)
            self._removed[module] = None if rule is None else Removed(rule.id, rule.feature, module, module)
        return self._removed[module]

    def named_by_string(self, text: object) -> Removed | None:
        if not isinstance(text, str) or not text.startswith("sglang."):
            return None
        dotted = text.replace(":", ".")
        if not all(part.isidentifier() for part in dotted.split(".")):
            return None
        return self.removed_module(dotted) or self.removed_module(dotted.rpartition(".")[0])

    @cached_property
    def _unknown(self) -> frozenset[str]:
        """Refusals of what upstream knows nothing of."""
        bound = [rule for rule in self.rules.refusals if rule.modules]
        return frozenset(r.id for r in bound if not any(any_module_matches(r.modules, name) for name in self.modules))

    def refusals_in(self, module: str) -> tuple[Refusal | Answer, ...]:
        """The rules that have functions of a module look at an argument, but for what upstream does not know."""
        asked: tuple[Refusal | Answer, ...] = (*self.rules.refusals, *self.rules.answers)
        known = (rule for rule in asked if rule.id not in self._unknown)
        return tuple(rule for rule in known if any(overlap(f, f"{module}.**") for f in rule.functions))

    def resolve(self, module: str, name: str) -> Value:
        """Follows re-exports and star imports; `UNKNOWN` inside a cycle."""
        key = (module, name)
        if key not in self._memo:
            self._memo[key] = UNKNOWN
            self._memo[key] = self._resolve(module, name)
        return self._memo[key]

    def _resolve(self, module: str, name: str) -> Value:
        qualified = f"{module}.{name}"
        if (fact := self.named(qualified)) is not None:
            return fact
        if (removed := self.removed_module(module)) is not None:
            return Removed(removed.rule, removed.feature, qualified, module)
        if (gone := self.removed_definition(qualified)) is not None:
            return gone
        found = self.outlines.get(module)
        if found is not None and name in found.names:
            submodule = self.removed_module(qualified) if qualified in self.modules else None
            if submodule is not None and all((b.module, b.name) == (module, name) for b in found.names[name]):
                # A package that imports its own module from itself.
                return submodule
            if name in found.rebound or (name in self.stored and not name.startswith("__")):
                return self._reference_only(module, name, found.names[name])
            own = bound_value(ModuleScope(self, module), name, found.names[name])
            later = [s for s in found.stars if s.line > found.names[name][0].line and self._provides(s, name)]
            # One that takes `torch` from where another file imported it, too, changes nothing.
            return own if all(self.resolve(star.module, name) == own for star in later) else UNKNOWN
        if qualified in self.modules:
            return self.removed_module(qualified) or Ref(qualified)
        # The last star import that gives the name wins.
        stars = [s for s in found.stars if self._provides(s, name)] if found is not None else []
        if not stars:
            return Ref(f"builtins.{name}" if found is not None and self._is_builtin(found, name) else qualified)
        if len(stars) > 1 and stars[-1].guards:
            return UNKNOWN
        return self.resolve(stars[-1].module, name)

    def _provides(self, star: Binding, name: str, seen: frozenset[str] = frozenset()) -> bool:
        """True when a star import may bind the name: `__all__` lists it, or there is none and it has no underscore."""
        source = self.outlines.get(star.module)
        if source is None or star.module in seen or self.removed_module(star.module) is not None:
            return False
        listed = source.names.get("__all__")
        if listed is None and name.startswith("_"):
            return False
        if listed is not None and all(isinstance(b.value, ast.List | ast.Tuple) for b in listed):
            texts = {n.value for b in listed if b.value for n in ast.walk(b.value) if isinstance(n, ast.Constant)}
            if name not in texts:
                return False
        seen |= {star.module}
        return name in source.names or any(self._provides(s, name, seen) for s in source.stars)

    def _is_builtin(self, module: Outline, name: str) -> bool:
        """True for a builtin that a module with star imports reads: what they give is known, and the name is not of it."""
        if name not in _BUILTINS or not module.stars:
            return False
        scope = ModuleScope(self, module.module)
        sources = [self.outlines.get(star.module) for star in module.stars if liveness(scope, star) is not False]
        return all(s is not None and not s.stars and name not in s.names for s in sources)

    def _reference_only(self, module: str, name: str, bindings: Sequence[Binding]) -> Value:
        kinds = {b.kind for b in bindings}
        if kinds <= {"def", "class"}:
            return Ref(f"{module}.{name}")
        imported = kinds <= {"from", "module", "def", "class"}
        return bound_value(ModuleScope(self, module), name, bindings) if imported else UNKNOWN

    def is_hot(self, value: Value) -> bool:
        """True for a value that folding would act on where its name is read."""
        match value:
            case Known(rules=rules) | TextDomain(rules=rules):
                return bool(rules)
            case Ref(name):
                return self.called(name) is not None or self.is_constant(name)
        return isinstance(value, Removed)

    def is_constant(self, function: str) -> bool:
        """True for a short function of the tree that has a constant result."""
        if function not in self._constant:
            self._constant[function] = False
            self._constant[function] = isinstance(self.interpret(function), Known)
        return self._constant[function]

    def hot_names(self, module: str) -> frozenset[str]:
        """Module-level names of a module that folding would act on; none for a module outside the tree."""
        if module not in self.outlines:
            return frozenset()
        if module not in self._hot:
            names = self.outlines[module].names
            self._hot[module] = frozenset(n for n in names if self.is_hot(self.resolve(module, n)))
        return self._hot[module]

    def interpret(self, name: str) -> Value:
        if name in self._interpreting:
            return UNKNOWN
        self._interpreting.add(name)
        try:
            return interpret(name, self)
        finally:
            self._interpreting.discard(name)


def _members(rules: Ruleset, outlines: Mapping[str, Outline]) -> dict[str, Removed]:
    """Every member of an enumeration of the tree that a `remove` rule names."""
    patterns = NamePatterns((p, (rule.id, rule.feature)) for rule in rules.removes for p in rule.members)
    members = (
        f"{module.module}.{owner}.{name}"
        for module in outlines.values()
        for owner, names in module.members.items()
        for name in names
    )
    found = ((name, patterns.find(name)) for name in members)
    return {name: Removed(*rule, name, member=True) for name, rule in found if rule is not None}
