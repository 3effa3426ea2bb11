"""Lists of a server's arguments, which both trees settle alike: every value of every flag that has
some, in changing company.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from equivalence.levels.result import Ledger, both
from equivalence.levels.scenarios import Configuration
from equivalence.levels.setting import GENERATED, SIDES, UPSTREAM, Call, Expected, Setting

CHECK = "arguments"
_TOGETHER = 3
"""Flags of one list: more of them hide each other behind errors."""
_TAKES: Mapping[str, list[list[str]]] = {"switch": [[]], "number": [["2"]]}
"""Kind of a flag → what is given to it."""
_SECONDS = 60
_MODELS = (((9, 0), 141, ("v3-fp8", "qwen3")), ((10, 0), 180, ("v32-fp8", "v3-fp8", "qwen3-moe")))
"""H200 and B200 with their GiB, by which a server chooses; published configurations, of which the
first counts that the profile serves. Each device has its part of the lists.
"""
_NAMES = re.compile(r"\[.*?\]")
"""Lists in a message, of which those of the generated tree are shorter: other checks look at what a
table holds.
"""


def compare_arguments(
    trees: Mapping[str, Path], flags: Sequence[Any], setting: Setting, ledger: Ledger
) -> None:
    """Settle the same lists in both trees: fields, errors and environment variables are equal;
    `flags`: those of the generated server, each with its choices (None where any text is one) and
    the name of its type.
    """
    asked = lists(flags, setting.expected)
    for index, (capability, memory, names) in enumerate(_MODELS):
        models = [Configuration(name=name, published=name) for name in names]
        model = next(
            (each for each in models if not setting.expected.refuses(each.asks)), models[0]
        )
        folder = model.write(setting.work / CHECK / model.name)
        start = ["--model-path", str(folder), "--skip-tokenizer-init", "--random-seed", "1"]
        # The first says what upstream chooses where nobody does.
        cases = [start, *([*start, *one] for one in asked[index :: len(_MODELS)])]
        given = {"cases": cases, "seconds": _SECONDS}
        call = Call(
            "arguments", dict.fromkeys(SIDES, given), 900, f"{CHECK}-{model.name}", capability
        )
        device = setting.simulation.seeing(memory=memory << 30, devices=8)
        if (found := both(trees, replace(setting, simulation=device), ledger, call)) is None:
            continue
        told = [outcome.data for outcome in found]
        if chosen := _chosen_refused(told[0][0], setting.expected):
            ledger.limit(
                f"Arguments: upstream's own choice on {capability} is {chosen}, which the profile "
                "refuses."
            )
            continue
        environments = [[one["environment"] for one in side] for side in told]
        unset = {
            name
            for before, after in zip(*environments, strict=True)
            for name in {*before} - {*after}
        }
        gone = {name for name in unset if _only_removed_write(name, trees)}
        for name in sorted(gone):
            ledger.limit(
                f"Arguments: {name} is set by upstream alone, in a module that the profile removes."
            )
        for case, before, after in zip(cases, *told, strict=True):
            if chosen := _chosen_refused(before, setting.expected):
                ledger.limit(
                    f"Arguments: where upstream chooses {chosen}, the profile refuses it and "
                    "chooses another."
                )
                continue
            left = {name: text for name, text in before["environment"].items() if name not in gone}
            judge(" ".join(case[len(start) :]), {**before, "environment": left}, after, ledger)


def _only_removed_write(variable: str, trees: Mapping[str, Path]) -> bool:
    """Tell whether no file that the generated tree has names the variable in upstream."""
    theirs = trees[UPSTREAM]
    files = (
        path for path in (theirs / "sglang").rglob("*.py") if variable.encode() in path.read_bytes()
    )
    return not any((trees[GENERATED] / path.relative_to(theirs)).exists() for path in files)


def _chosen_refused(before: Mapping[str, Any], expected: Expected) -> str:
    """Return a choice of upstream's own that the profile refuses, as its flag."""
    fields = before.get("fields", {}).items()
    # Only a text that is not empty chooses anything.
    chosen = (
        (f"--{name.replace('_', '-')}", text[1:-1])
        for name, text in fields
        if re.fullmatch("'.+'", text)
    )
    return next(filter(None, map(expected.refuses, chosen)), "")


def lists(flags: Sequence[Any], expected: Expected) -> list[list[str]]:
    """Return each value that is not refused once, some flags together; a flag that takes any text
    is not asked.
    """
    values: list[list[str]] = []
    for flag, choices, kind in flags:
        taken = _TAKES.get(kind, []) if choices is None else [[choice] for choice in choices]
        values += [[flag, *words] for words in taken if not expected.refuses([flag, *words])]
    random.Random(0).shuffle(values)
    return [
        list(chain.from_iterable(values[at : at + _TOGETHER]))
        for at in range(0, len(values), _TOGETHER)
    ]


def judge(where: str, before: Mapping[str, Any], after: Mapping[str, Any], ledger: Ledger) -> None:
    """One list, for people `where`, as upstream and the generated tree settled it."""
    ledger.checks[CHECK] += 1
    if "error" in before or "error" in after:
        theirs, ours = (
            {"error": _NAMES.sub("[]", side.get("error", ""))} for side in (before, after)
        )
        ledger.same(CHECK, where, theirs, ours, most=1)
        return
    # A field that only a removed feature has is gone with it; what is left of it the interface
    # lists.
    kept = {name: before["fields"].get(name) for name in after["fields"]}
    ledger.same(CHECK, where, kept, after["fields"])
    ledger.same(CHECK, where, before["environment"], after["environment"])
