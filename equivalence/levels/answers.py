"""What two servers showed, compared."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from equivalence.levels.replay import GENERATED, SIDES, UPSTREAM, Called
from equivalence.levels.result import Ledger
from equivalence.serving import Record, judge

_LOADED = re.compile(r"Load weight end.*?type=(\w+)")


@dataclass(frozen=True, slots=True)
class Seen:
    """What one server showed."""

    record: Record
    client: Mapping[str, Any]
    """What the OpenAI client saw, by step; empty where it did not ask."""
    log: str
    called: Called

    @property
    def classes(self) -> list[str]:
        """Of the models that the log says were loaded."""
        return sorted(set(_LOADED.findall(self.log)))


def compare(where: str, seen: Mapping[str, Seen], ledger: Ledger) -> None:
    """Both servers showed the same."""
    before, after = seen[UPSTREAM], seen[GENERATED]
    compare_answers(before.record, after.record, ledger, where)
    for name in sorted({*before.client, *after.client} - {"removed"}):
        ledger.count("client")
        if before.client.get(name) != after.client.get(name):
            left, right = (json.dumps(side.client.get(name), sort_keys=True)[:300] for side in (before, after))
            ledger.find("client", "", f"{name}: {right}, in upstream {left}")
    if "client" in after.client:
        ledger.find("client", "", str(after.client["client"]))
    compare_removed(after.client.get("removed") or {}, ledger)
    ledger.count("model class", len(after.classes))
    if before.classes != after.classes:
        ledger.find("model class", "", f"{where}: {after.classes} was loaded, in upstream {before.classes}")
    ledger.compare_calls(before.called, after.called, where)


def compare_removed(answers: Mapping[str, Any], ledger: Ledger) -> None:
    """Each endpoint that was removed answers with its rule.

    Args:
        answers: status and body by method and path, or how asking failed (`raised` and `text`).
    """
    if "raised" in answers:
        ledger.find("removed endpoints", "", f"they cannot be asked for: {answers['raised']}: {answers['text']}")
        return
    for endpoint, (status, body) in answers.items():
        ledger.count("removed endpoints")
        if status != 404 or "rule" not in body:
            ledger.find("removed endpoints", "", f"{endpoint} answers {status}: {body[:200]}")


def compare_answers(before: Record, after: Record, ledger: Ledger, where: str) -> None:
    """Every request of the script was answered, and the same by both servers."""
    unsent: set[str] = set()
    for side, record in zip(SIDES, (before, after), strict=True):
        if late := record.unsent():
            unsent.update(late)
            said = f"{where}: {side}: no time was left for {len(late)} request(s), from {late[0]} on"
            ledger.find("requests", "", f"{said}: give more with --timeout-factor, or let the machine do nothing else")
    for verdict in judge(before, None, after):
        if verdict.request in unsent:
            continue
        ledger.count("requests")
        asked = f"{where}: {verdict.request}"
        if verdict.result == "unanswered":
            ledger.find("requests", "", f"{asked}: no answer from either server")
        for found in verdict.differences[:3]:
            ledger.find("requests", "", f"{asked}: {found.path} is {found.right}, in upstream {found.left}")
