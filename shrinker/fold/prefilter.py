"""Which lines of a module the facts can say something about: the others need no visit."""

import ast
import re
from collections.abc import Iterable, Iterator

from shrinker.facts.scopes import LATER, ModuleScope, function_scope
from shrinker.fold.context import Context
from shrinker.syntax.bindings import Binding
from shrinker.syntax.ranges import meets
from shrinker.syntax.walk import BLOCKS_OF, Function

_DOTTED = re.compile(r"sglang(?:\.\w+)+")


def heat(context: Context, tree: ast.Module, derived: frozenset[str]) -> bool:
    """Mark the lines that the facts, or the words that are `derived`, can say something about.

    False when there are none.
    """
    environment, module = context.environment, context.module
    found = environment.outline_of(module)
    assert found is not None
    words = {*environment.words, *derived, *environment.hot_names(module)}
    for star in found.stars:
        if environment.removed_module(star.module) is not None:
            words.add(star.module.rpartition(".")[2])
        starred = environment.outline_of(star.module)
        names = starred.names if starred is not None else ()
        words |= {name for name in names if environment.is_hot(environment.resolve(module, name))}
    for source_module, name, bound in found.aliases:
        whole = f"{source_module}.{name}" if name else source_module
        # `import a.b as b`: what is read as `b.flag` stands on its line.
        words |= environment.hot_names(whole)
        if not name:
            if environment.removed_module(source_module) is not None:
                words |= {bound, source_module.rpartition(".")[2]}
        elif (
            name != "*"
            and bound not in words
            and environment.is_hot(environment.resolve(source_module, name))
        ):
            words.add(bound)
    texts = (
        text
        for text in set(_DOTTED.findall(context.source.text))
        if environment.named_by_string(text) is not None
    )
    words |= {text.rpartition(".")[2] for text in texts}
    if not context.heat(words):
        return False
    _warm_locals(context, tree, words)
    return True


def _warm_locals(context: Context, tree: ast.Module, words: Iterable[str]) -> None:
    """Heat the local names that the facts can say something about, until there are no more.

    A local name is decided only through a word that stands where it is bound, or in a test around
    that place, so the others are not asked about; functions without such a word are not looked
    into.
    """
    environment = context.environment
    outer = ModuleScope(environment, context.module, context.decided)
    domains = context.source.holding(environment.domain_words)
    known = set(words)
    while True:
        fresh: set[str] = set()
        for node in _hot_functions(tree, context):
            if node not in context.scopes:
                context.scopes[node] = function_scope(node, outer, context.package)
            scope = context.scopes[node]
            fresh |= {
                name
                for name, bindings in scope.bindings.names.items()
                if name not in known
                and any(_may_be_decided(b, context, domains) for b in bindings)
                and environment.is_hot(scope.lookup(name, LATER))
            }
        if not fresh:
            return
        known |= fresh
        context.heat(fresh)


def _hot_functions(tree: ast.Module, context: Context) -> Iterator[Function]:
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Function):
            yield node
        parts = (part for field in BLOCKS_OF[node.__class__] for part in getattr(node, field))
        stack += (part for part in parts if not isinstance(part, ast.stmt) or context.is_hot(part))


def _may_be_decided(binding: Binding, context: Context, domains: list[int]) -> bool:
    """Tell whether the facts may say something about what a binding gives, or about whether it is
    reached.
    """
    if binding.kind in ("from", "module"):
        return True
    if any(
        guard.kind in ("try", "handler")
        or (guard.test is not None and _is_near(guard.test, context, domains))
        for guard in binding.guards
    ):
        return True
    if binding.value is not None:
        return _is_near(binding.value, context, domains)
    return binding.kind == "class" and binding.node is not None and context.is_hot(binding.node)


def _is_near(node: ast.expr, context: Context, domains: list[int]) -> bool:
    """True for an expression on a line that is hot, or that holds a name of which a rule says what
    it never is.
    """
    return context.is_hot(node) or meets(domains, node)
