"""What files itself when a module is loaded, and what is found in a module by a text: nothing names these, so that each is looked for."""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Iterable, Mapping

from shrinker.check.condition_evaluator import Arm
from shrinker.check.rule_index import RuleIndex
from shrinker.check.symbols import ModuleSymbols, Registration
from shrinker.values.outcome import Finding

_BUILTINS = frozenset(dir(builtins))


def is_let_go(registration: Registration, module: str, index: RuleIndex) -> bool:
    """True when a rule says that nothing asks for what is filed, or when something in the statement is gone.

    Args:
        registration: of upstream.
        module: dotted name of the module that it is in.
    """
    return index.unregistered(f"{module}.{registration.function}", registration.key) or any(
        index.removes_member(module, said) or index.removes_module(said) for said in registration.says
    )


def lost_registrations(
    symbols: ModuleSymbols, upstream: ModuleSymbols, arms: Iterable[Arm], index: RuleIndex
) -> tuple[int, list[Finding]]:
    """Statements and decorators that register something, gone from a module that still has all that they name.

    Args:
        symbols, upstream: of the generated file and of upstream's.
        arms: what the rules refute of upstream's.
        index: of the rules: what nothing asks for may go.

    Returns:
        How many registrations upstream has in this file, and those that are gone.
    """
    if not upstream.registers:
        return 0, []
    found: list[Finding] = []
    never = [(arm[0].lineno, arm[-1].end_lineno or 0) for _, arm in arms]
    there = Counter((each.function, each.key) for each in symbols.registers)
    for each in upstream.registers:
        if there[each.function, each.key] > 0:
            there[each.function, each.key] -= 1
        elif (
            each.names <= symbols.bound | _BUILTINS
            and not any(first <= each.line <= last for first, last in never)
            and not is_let_go(each, symbols.module or "", index)
        ):
            message = f"{each.function} no longer files {each.key!r}, and no rule says why (upstream: line {each.line})"
            found.append(Finding("registrations", symbols.path, 0, message))
    return len(upstream.registers), found


def lost_by_text(
    kept: Iterable[ModuleSymbols], before: Mapping[str, ModuleSymbols], index: RuleIndex | None = None
) -> tuple[int, list[Finding]]:
    """Names that modules assigned and that kept code looks up by a text (``getattr(module, "EntryClass")``).

    Args:
        kept: every file of the generated tree.
        before: by path, upstream's symbols of each of these files that is not as upstream wrote it.
        index: of the rules; a module that they keep from the walk over its package is not looked at by it.

    Returns:
        How many such names upstream has in these files, and those that are gone.
    """
    kept = list(kept)
    asked = {name for symbols in kept for name in symbols.by_text}
    count = 0
    found: list[Finding] = []
    for symbols in kept:
        upstream = before.get(symbols.path)
        if index is not None and index.walked_past(symbols.module or ""):
            continue
        for name, line in upstream.assigned if upstream is not None else ():
            if name in asked:
                count += 1
                if name not in symbols.bound:
                    message = f"has no {name!r} any more, which kept code looks up by a text (upstream: line {line})"
                    found.append(Finding("names by text", symbols.path, 0, message))
    return count, found
