"""What files itself when a module is loaded, and what is found in a module by a text: nothing names these, so that each is looked for."""

from __future__ import annotations

import builtins
from collections import Counter

from shrinker.check.arms import lines_of
from shrinker.check.pair import FilePair
from shrinker.check.registry import Seen
from shrinker.check.rule_index import RuleIndex
from shrinker.check.symbols import Registration
from shrinker.check.trees import Trees

_BUILTINS = frozenset(dir(builtins))


def is_let_go(registration: Registration, module: str, index: RuleIndex) -> bool:
    """True when a rule says that nothing asks for what is filed, or when something in the statement is gone."""
    return index.unregistered(f"{module}.{registration.function}", registration.key) or any(
        index.removes_member(said) or index.removes_module(said) for said in registration.says
    )


def lost_registrations(pair: FilePair, seen: Seen) -> None:
    """Statements and decorators that register something, gone from a module that still has all that they name."""
    upstream, index = pair.source_symbols, pair.index
    if upstream is None or index is None:
        return
    symbols, never = pair.symbols, lines_of(pair.arms)
    there = Counter((each.function, each.key) for each in symbols.registers)
    seen.look(len(upstream.registers))
    for each in upstream.registers:
        if there[each.function, each.key] > 0:
            there[each.function, each.key] -= 1
        elif (
            each.names <= symbols.bound | _BUILTINS
            and not any(first <= each.line <= last for first, last in never)
            and not is_let_go(each, symbols.module or "", index)
        ):
            what = f"{each.function} no longer files {each.key!r}"
            seen.find(pair.path, 0, f"{what}, and no rule says why (upstream: line {each.line})")


def lost_by_text(trees: Trees, seen: Seen) -> None:
    """Names that modules assigned and that kept code looks up by a text (``getattr(module, "EntryClass")``)."""
    asked = {name for symbols in trees.kept for name in symbols.by_text}
    for symbols, upstream in trees.pairs():
        if trees.index is not None and trees.index.walked_past(symbols.module or ""):
            # The walk over the package does not find it.
            continue
        for name, line in upstream.assigned:
            if name in asked:
                seen.look()
                if name not in symbols.bound:
                    message = f"has no {name!r} any more, which kept code looks up by a text (upstream: line {line})"
                    seen.find(symbols.path, 0, message)
