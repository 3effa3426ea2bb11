"""The closed world as a function from qualified names to values: rules plus outlines, memoised; and
that of a tree, of which every module is outlined that no rule removes.
"""

import ast
import builtins
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from shrinker.cache import Cache
from shrinker.cache.workers import Progress, map_cached
from shrinker.facts.calls import is_pure
from shrinker.facts.evaluate import ValueScope, evaluate
from shrinker.facts.lattice import NO_RULES, UNKNOWN, Known, Ref, Removed, TextDomain, Value
from shrinker.facts.outline import ANY_NAME, Outline, outline
from shrinker.facts.scopes import ModuleScope, bound_value, failing_import, function_scope, liveness
from shrinker.facts.world import ClosedWorld
from shrinker.ruleset.models import Ruleset
from shrinker.syntax.bindings import Binding
from shrinker.syntax.imports import catches_import_error, with_packages
from shrinker.syntax.parsing import parsed
from shrinker.values.errors import InputError
from shrinker.values.upstream import UpstreamTree, module_name, modules_of

_BUILTINS = frozenset(dir(builtins))


class Environment(ClosedWorld):
    """Answers `what is this name in the closed world?` for every module of the tree."""

    def __init__(
        self,
        rules: Ruleset,
        outlines: Mapping[str, Outline],
        modules: frozenset[str],
        rescued: Iterable[str] = (),
    ) -> None:
        """The arguments are those of `ClosedWorld`."""
        super().__init__(rules, outlines, modules, rescued)
        self._memo: dict[tuple[str, str], Value] = {}
        self._interpreting: set[str] = set()
        self._hot: dict[str, frozenset[str]] = {}
        self._acted_on: dict[Value, bool] = {}

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
            if submodule is not None and all(
                (b.module, b.name) == (module, name) for b in found.names[name]
            ):
                # A package that imports its own module from itself.
                return submodule
            if (
                name in found.rebound
                or ANY_NAME in found.rebound
                or (name in self.stored and not name.startswith("__"))
            ):
                return self._reference_only(module, name, found.names[name])
            own = bound_value(ModuleScope(self, module), name, found.names[name])
            later = [
                s
                for s in found.stars
                if s.line > found.names[name][0].line and self._provides(s, name)
            ]
            # One that takes `torch` from where another file imported it, too, changes nothing.
            return own if all(self.resolve(star.module, name) == own for star in later) else UNKNOWN
        if qualified in self.modules:
            return self.removed_module(qualified) or Ref(qualified)
        # The last star import that gives the name wins.
        stars = [s for s in found.stars if self._provides(s, name)] if found is not None else []
        if not stars:
            return Ref(
                f"builtins.{name}"
                if found is not None and self._is_builtin(found, name)
                else qualified
            )
        if len(stars) > 1 and stars[-1].guards:
            return UNKNOWN
        return self.resolve(stars[-1].module, name)

    def _provides(self, star: Binding, name: str, seen: frozenset[str] = frozenset()) -> bool:
        """Tell whether a star import may bind the name: `__all__` lists it, or there is none and it
        has no underscore.
        """
        source = self.outlines.get(star.module)
        if source is None or star.module in seen or self.removed_module(star.module) is not None:
            return False
        listed = source.names.get("__all__")
        if listed is None and name.startswith("_"):
            return False
        if listed is not None and all(isinstance(b.value, ast.List | ast.Tuple) for b in listed):
            texts = {
                n.value
                for b in listed
                if b.value
                for n in ast.walk(b.value)
                if isinstance(n, ast.Constant)
            }
            if name not in texts:
                return False
        seen |= {star.module}
        return name in source.names or any(self._provides(s, name, seen) for s in source.stars)

    def _is_builtin(self, module: Outline, name: str) -> bool:
        """True for a builtin that a module with star imports reads: what they give is known, and
        the name is not of it.
        """
        if name not in _BUILTINS or not module.stars:
            return False
        scope = ModuleScope(self, module.module)
        sources = [
            self.outlines.get(star.module)
            for star in module.stars
            if liveness(scope, star) is not False
        ]
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
                return self.called(name) is not None or isinstance(self.interpret(name), Known)
        return isinstance(value, Removed)

    def hot_names(self, module: str) -> frozenset[str]:
        """Return module-level names of a module that folding would act on; none for a module
        outside the tree.
        """
        if module not in self.outlines:
            return frozenset()
        if module not in self._hot:
            names = self.outlines[module].names
            self._hot[module] = frozenset(
                n for n in names if self._is_acted_on(self.resolve(module, n))
            )
        return self._hot[module]

    def _is_acted_on(self, value: Value) -> bool:
        # Many modules import the same functions.
        if not isinstance(value, Ref):
            return self.is_hot(value)
        if value not in self._acted_on:
            self._acted_on[value] = self.is_hot(value)
        return self._acted_on[value]

    def interpret(self, name: str) -> Value:
        if name in self._interpreting:
            return UNKNOWN
        self._interpreting.add(name)
        try:
            return self._interpret(*name.rpartition(".")[::2])
        finally:
            self._interpreting.discard(name)

    def _interpret(self, module: str, name: str) -> Value:
        """Return constant result of a short function, its parameters unknown."""
        found = self.outlines.get(module)
        bindings = found.names.get(name, ()) if found is not None else ()
        if found is None or not any(
            isinstance(binding.node, ast.FunctionDef) for binding in bindings
        ):
            # Nearly all.
            return UNKNOWN
        outer = ModuleScope(self, module)
        alive = [binding.node for binding in bindings if liveness(outer, binding) is not False]
        definition = alive[0] if len(alive) == 1 else None
        if not isinstance(definition, ast.FunctionDef):
            return UNKNOWN
        result = self.result_of(module, definition)
        return result if isinstance(result, Known) and result.rules else UNKNOWN

    def result_of(self, module: str, definition: ast.FunctionDef) -> Value | None:
        """Interpret a function or method that stands in a module; None where it only falls
        through.
        """
        outer = ModuleScope(self, module)
        package = self.outlines[module].package
        return _run(definition.body, function_scope(definition, outer, package))


def _run(body: list[ast.stmt], scope: ValueScope, rules: frozenset[str] = NO_RULES) -> Value | None:
    """Result of a block: a value when it certainly returns it, UNKNOWN when unsure, None when it
    falls through.
    """
    for statement in body:
        match statement:
            case ast.Return():
                if statement.value is None:
                    return Known(None, True, rules)
                if not is_pure(statement.value, scope):
                    return UNKNOWN
                value = evaluate(statement.value, scope)
                return value.resting(rules) if isinstance(value, Known) else value
            case ast.If():
                test = evaluate(statement.test, scope, condition=True)
                if not isinstance(test, Known) or not is_pure(statement.test, scope):
                    return UNKNOWN
                rules |= test.rules
                branch = statement.body if test.truth else statement.orelse
            case ast.Try():
                failing = failing_import(statement, scope)
                if failing is None:
                    return UNKNOWN
                rules |= {failing[0]}
                branch = next(h for h in statement.handlers if catches_import_error(h)).body
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Import() | ast.ImportFrom():
                continue
            case _:
                return UNKNOWN
        if (result := _run(branch, scope, rules)) is not None:
            return result
    return None


def build_environment(
    tree: UpstreamTree,
    rules: Ruleset,
    *,
    jobs: int,
    progress: Progress = lambda done, total: None,
    cache: Cache | None = None,
) -> Environment:
    """Read the package and return the closed world; outlines of files that were read before are
    taken from the cache. Raises InputError: the tree holds no module; ShrinkerError: a worker was
    killed.
    """
    paths = modules_of(tree.by_path)
    names = with_packages(paths)
    probe = Environment(rules, {}, names)
    hashes = {
        path: tree.by_path[path].sha256
        for name, path in paths.items()
        if probe.removed_module(name) is None
    }
    if not hashes:
        raise InputError(
            "the tree holds no Python module of sglang",
            "check UPSTREAM: it must hold python/sglang",
        )
    # An outline depends on the file's text and its place in the package, and on nothing else.
    layer = (cache or Cache()).layer("outlines")
    found = map_cached(
        partial(outline_file, tree.root), layer, hashes, tree.root, jobs=jobs, progress=progress
    )
    outlines = {each.module: each for each in found.values() if each is not None}
    return Environment(rules, outlines, names)


def outline_file(root: Path, path: str, name: str | None = None) -> Outline | None:
    """Outline of one file, None when it does not parse; of a file outside the package `name` is its
    dotted name.
    """
    # Only a broken file that the server needs is an error: folding it says so, with its line.
    tree = parsed((root / path).read_bytes(), path)
    return (
        None
        if tree is None
        else outline(name or module_name(path) or "", path.endswith("/__init__.py"), tree)
    )
