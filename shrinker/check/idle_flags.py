"""Flags that the generated tree still takes and whose effect is gone: upstream reads them somewhere else than where they are declared,
and nothing of the tree does any more. Each must be refused, or depend on something that is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from shrinker.check.entered import Entered
from shrinker.check.outside import Outside
from shrinker.ruleset.match import any_module_matches
from shrinker.values.entries import GONE, KEPT, NEVER, Effect
from shrinker.values.outcome import Finding

CHECK = "flags without effect"


def flag_effects(
    outside: Outside, generated: Iterable[Entered], upstream: Iterable[tuple[str, str]], read: Callable[[str], bytes]
) -> list[Effect]:
    """Every flag, sorted.

    Args:
        outside: what comes in, by upstream's text.
        generated: what was read of the files of the tree.
        upstream: module and path of all Python files of upstream.
        read: bytes of such a path.
    """
    declaring = {field.owner.rpartition(".")[0] for field in outside.flags.values()}
    reading: set[str] = set()
    own: set[str] = set()
    taken: set[str] = set()
    for file in generated:
        (own if file.module in declaring else reading).update(file.reads)
        taken.update(
            name for owner, name, _, _ in file.fields if name in outside.flags and owner == outside.flags[name].owner
        )
    lost = sorted(taken & outside.flags.keys() - reading)
    readers = _readers(lost, outside, upstream, read)
    effects = [Effect(flag, KEPT) for flag in taken & outside.flags.keys() & reading]
    for flag in lost:
        elsewhere = tuple(path for module, path in readers.get(flag, ()) if module not in declaring)
        at_home = len(readers.get(flag, ())) > len(elsewhere)
        if elsewhere or (at_home and flag not in own):
            rule = (
                outside.refused(flag)
                or next((r.id for r in outside.refusals_of(flag) if r.only), "")
                or outside.dependent(flag)
            )
            effects.append(Effect(flag, GONE, rule, elsewhere[:3]))
        else:
            effects.append(Effect(flag, KEPT if at_home else NEVER))
    return sorted(effects)


def without_effect(effects: Iterable[Effect], outside: Outside) -> list[Finding]:
    """Losses that nothing explains."""
    found: list[Finding] = []
    for each in effects:
        if each.effect == GONE and not each.rule:
            field = outside.flags[each.flag]
            module = field.owner.rpartition(".")[0]
            message = (
                f"the flag --{each.flag.replace('_', '-')} is still taken and nothing of the tree reads it any more; upstream does in "
                f"{', '.join(each.readers) or 'this file'}. Refuse it, or name it in a [[dependent]] rule"
            )
            found.append(Finding(CHECK, f"python/{module.replace('.', '/')}.py", field.line, message))
    return found


def _readers(
    flags: Iterable[str], outside: Outside, upstream: Iterable[tuple[str, str]], read: Callable[[str], bytes]
) -> dict[str, list[tuple[str, str]]]:
    """By flag, module and path of the files whose text reads it of what holds flags."""
    names = "|".join(map(re.escape, flags)) or "(?!)"
    entries = [entry for entry in outside.rules.entries if entry.kind == "flag"]
    apart = tuple(module for entry in entries for module in entry.apart)
    held = "|".join(
        re.escape(name).replace(re.escape("()"), r"\([^()]*\)") for entry in entries for name in (*entry.held, "self")
    )
    pattern = re.compile(
        rf"\b(?:{held})\s*\.(?P<read>{names})\b(?!\s*=[^=])|\bgetattr\([^,()]*(?:\(\))?,\s*['\"](?P<asked>{names})['\"]".encode()
    )
    own = re.compile(rb"\bself\s*\.")
    declaring = {field.owner.rpartition(".")[0] for field in outside.flags.values()}
    found: dict[str, list[tuple[str, str]]] = {}
    for module, path in upstream:
        if apart and any_module_matches(apart, module):
            continue
        for match in pattern.finditer(read(path)):
            if module in declaring or not own.match(match[0]):
                rows = found.setdefault((match["read"] or match["asked"]).decode(), [])
                if (module, path) not in rows:
                    rows.append((module, path))
    return found
