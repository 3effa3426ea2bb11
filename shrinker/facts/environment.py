"""The closed world as a function from qualified names to values: rules plus outlines, memoised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shrinker.facts.bindings import Binding
from shrinker.facts.lattice import UNKNOWN, Known, Ref, Removed, Value
from shrinker.facts.outline import Outline
from shrinker.ruleset.match import module_matches, name_matches
from shrinker.ruleset.models import Fact, Ruleset


class _Patterns:
    """Rule patterns indexed by their last component, so that a look-up tries few of them."""

    def __init__(self, pairs: Iterable[tuple[str, Fact]]) -> None:
        self._by_last: dict[str, list[tuple[str, Fact]]] = {}
        self._open: list[tuple[str, Fact]] = []
        """Patterns whose last component is not a plain name."""
        for pattern, fact in pairs:
            last = pattern.rpartition(".")[2]
            rows = self._open if "*" in last else self._by_last.setdefault(last, [])
            rows.append((pattern, fact))

    @property
    def words(self) -> set[str]:
        return set(self._by_last)

    def find(self, name: str) -> Fact | None:
        rows: list[tuple[str, Fact]] = [*self._by_last.get(name.rpartition(".")[2], []), *self._open]
        for pattern, fact in rows:
            if name_matches(pattern, name):
                return fact
        return None


class Environment:
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
        self.rescued = rescued
        self.rules = rules
        self.outlines = outlines
        self.modules = modules
        self._calls = _Patterns((p, f) for f in rules.facts for p in f.calls)
        self._names = _Patterns((p, f) for f in rules.facts for p in (*f.names, *f.attributes))
        self.variables: dict[str, Fact] = {v: f for f in rules.facts for v in f.environment}
        self.absent: dict[str, str] = {m: a.id for a in rules.absents for m in a.modules}
        self._memo: dict[tuple[str, str], Value] = {}
        self._removed: dict[str, Removed | None] = {}
        self._constant: dict[str, bool] = {}
        self._hot: dict[str, frozenset[str]] = {}
        self.imported: frozenset[tuple[str, str]] = frozenset(
            (m, n) for o in outlines.values() for m, n, _ in o.aliases
        )
        self.starred: frozenset[str] = frozenset(b.module for o in outlines.values() for b in o.stars)
        self.read: frozenset[str] = frozenset().union(*(o.read for o in outlines.values()))
        self.stored: frozenset[str] = frozenset().union(*(o.stored for o in outlines.values()))

    @property
    def words(self) -> set[str]:
        """Identifiers and strings that a statement must hold for a rule to say anything about it directly."""
        absent = {m.partition(".")[0] for m in self.absent}
        return self._calls.words | self._names.words | set(self.variables) | absent

    def called(self, name: str) -> Known | None:
        """The value that a fact gives to a call of this qualified name."""
        return _value(self._calls.find(name))

    def named(self, name: str) -> Known | None:
        """The value that a fact gives to this qualified name or attribute."""
        return _value(self._names.find(name))

    def variable(self, name: str) -> Known | None:
        """The value that a fact gives to an environment variable."""
        return _value(self.variables.get(name))

    def is_absent(self, module: str) -> str | None:
        """Rule that says this module outside the tree is not installed."""
        name = module
        while name:
            if name in self.absent:
                return self.absent[name]
            name = name.rpartition(".")[0]
        return None

    def removed_module(self, module: str) -> Removed | None:
        """The `remove` rule that takes a module of the tree, if one does."""
        if module not in self._removed:
            self._removed[module] = self._find_removed(module)
        return self._removed[module]

    def _find_removed(self, module: str) -> Removed | None:
        if module not in self.modules or module in self.rescued:
            return None
        for rule in self.rules.removes:
            if any(module_matches(p, module) for p in rule.modules) and not any(
                module_matches(p, module) for p in rule.unless
            ):
                return Removed(rule.id, rule.feature, module, module)
        return None

    def named_by_string(self, text: object) -> Removed | None:
        """The removed module that a string names: ``a.b``, ``a.b.Name`` or ``a.b:Name``."""
        if not isinstance(text, str) or not text.startswith("sglang."):
            return None
        dotted = text.replace(":", ".")
        if not all(part.isidentifier() for part in dotted.split(".")):
            return None
        return self.removed_module(dotted) or self.removed_module(dotted.rpartition(".")[0])

    def only_when_asked(self, name: str) -> bool:
        """True when a rule says that uses of this removed name only run when its feature is asked for."""
        return any(name_matches(p, name) for rule in self.rules.removes for p in rule.only_when_asked)

    def resolve(self, module: str, name: str) -> Value:
        """What `name` is in `module` once that module is imported.

        Follows re-exports and star imports; `UNKNOWN` inside a cycle.
        """
        key = (module, name)
        if key in self._memo:
            return self._memo[key]
        self._memo[key] = UNKNOWN
        value = self._resolve(module, name)
        self._memo[key] = value
        return value

    def _resolve(self, module: str, name: str) -> Value:
        qualified = f"{module}.{name}"
        fact = self.named(qualified)
        if fact is not None:
            return fact
        removed = self.removed_module(module)
        if removed is not None:
            return Removed(removed.rule, removed.feature, qualified, module)
        found = self.outlines.get(module)
        if found is not None and name in found.names:
            if name in found.rebound or (name in self.stored and not name.startswith("__")):
                return self._reference_only(module, name, found.names[name])
            return self.bound(module, name, found.names[name])
        if qualified in self.modules:
            removed = self.removed_module(qualified)
            return removed if removed is not None else Ref(qualified)
        for star in found.stars if found is not None else ():
            if star.module == module:
                continue
            value = self._through_star(star, name)
            if value is not None:
                return value
        return Ref(qualified)

    def _through_star(self, star: Binding, name: str) -> Value | None:
        removed = self.removed_module(star.module)
        if removed is not None:
            return None
        source = self.outlines.get(star.module)
        if source is None:
            return None
        if name in source.names or any(self._through_star(s, name) for s in source.stars):
            return self.resolve(star.module, name)
        return None

    def _reference_only(self, module: str, name: str, bindings: list[Binding]) -> Value:
        kinds = {b.kind for b in bindings}
        if kinds <= {"def", "class"}:
            return Ref(f"{module}.{name}")
        if kinds <= {"from", "module", "def", "class"}:
            return self.bound(module, name, bindings)
        return UNKNOWN

    def bound(self, module: str, name: str, bindings: list[Binding], before: int | None = None) -> Value:
        """Value of a module-level name from its bindings; `before` limits to those above a line."""
        # Names and expressions define each other: scopes ask the environment, which asks scopes.
        from shrinker.facts.scopes import ModuleScope, bound_value

        scope = ModuleScope(self, module)
        return bound_value(scope, name, bindings, before)

    def is_hot(self, value: Value) -> bool:
        """True for a value that folding would act on where its name is read."""
        if isinstance(value, Removed):
            return True
        if isinstance(value, Known):
            return bool(value.rules)
        if isinstance(value, Ref):
            return self.called(value.name) is not None or self.constant_function(value.name)
        return False

    def hot_names(self, module: str) -> frozenset[str]:
        """Module-level names of a module that folding would act on; none for a module outside the tree."""
        if module not in self.outlines:
            return frozenset()
        if module not in self._hot:
            names = self.outlines[module].names
            self._hot[module] = frozenset(n for n in names if self.is_hot(self.resolve(module, n)))
        return self._hot[module]

    def interpret(self, name: str, depth: int = 0) -> Value:
        """Constant result of a short function of the tree, UNKNOWN when it has none."""
        from shrinker.facts.interpret import interpret

        return interpret(name, self, depth)

    def constant_function(self, name: str) -> bool:
        """True for a short function of the tree whose result the facts decide."""
        if name not in self._constant:
            self._constant[name] = False
            module = name.rpartition(".")[0]
            if module in self.outlines:
                self._constant[name] = isinstance(self.interpret(name), Known)
        return self._constant[name]


def _value(fact: Fact | None) -> Known | None:
    return None if fact is None else Known(fact.value, fact.exact, frozenset({fact.id}))
