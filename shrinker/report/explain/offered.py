"""What a run left, what is told of one thing, and the answers to what a server offers, and to
rules: flags, environment variables, endpoints.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from shrinker.check.outside import TABLE, tables_of
from shrinker.program.answers import SavedRun, unknown
from shrinker.program.saved import load_report
from shrinker.report.retained import several
from shrinker.values.errors import InputError
from shrinker.values.graph import Edge

_DID = {
    "decisions": "decision",
    "folded_lines": "folded line",
    "files": "removed file",
    "lines": "line",
    "kept": "kept node",
}
_ERROR = re.compile(r"(?:shrinker: )?(\S.*?) is not part of this server \((.*?)\)")
_RULE = re.compile(r"removed by rule ([\w+-]+)")
VARIABLE = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+")


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of one thing."""

    subject: str
    verdict: str
    """``kept``, ``removed``, ``partly kept``, ``refused`` (some values of it are), ``rule`` or
    ``leaves``.
    """
    because: tuple[str, ...]
    change: str
    """What would change it."""
    upstream: str = ""
    """Path and line there."""
    generated: str = ""
    """The same in the generated tree."""


@dataclass
class Generated(SavedRun):
    """What a run saved, the other reports beside it, and the tree that it made."""

    out: Path
    shown: Path
    """The tree as it is written in answers."""
    upstream: Callable[[str], str]
    """Text of upstream's file with a path; empty where it cannot be read."""

    @cached_property
    def lines(self) -> dict[str, int]:
        """Lines of each kept file in the tree."""
        rows = self.graph.with_name("keep.txt").read_text("utf-8").splitlines()[1:]
        return {path: int(after) for path, _, after, _ in (row.split("\t") for row in rows)}

    def report(self, name: str) -> Any:
        """Return a report in JSON. Raises InputError when it is not there."""
        return load_report(self.graph.with_name(name))

    @cached_property
    def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        """Rows of the tables with which the tree itself answers."""
        return {name: [row for _, row in rows] for name, rows in tables_of(self.out).items()}

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield path and text of each Python file that upstream has, too."""
        for path in self.data["kept"]:
            if path.endswith(".py") and path != TABLE:
                yield path, (self.out / path).read_text("utf-8", "replace")

    def places(self, pattern: str, word: str) -> Iterator[str]:
        """``path:line`` of each place of the tree where a pattern stands that holds a word."""
        sought = re.compile(pattern, re.MULTILINE)
        for path, text in self.texts():
            for found in sought.finditer(text) if word in text else ():
                yield f"{self.shown / path}:{text.count(chr(10), 0, found.start(found.lastindex or 0)) + 1}"

    def first(self, pattern: str, word: str) -> str:
        """Return the first of these places; empty when there is none."""
        return next(self.places(pattern, word), "")

    def gone(self, word: str) -> Iterator[str]:
        """``path:line`` of the first place in each of upstream's Python files of a word that the
        tree has not.
        """
        sought = re.compile(rf"\b{re.escape(word)}\b")
        for path in (*self.data["kept"], *self.data["removed"]):
            if (
                path.endswith(".py")
                and word in (text := self.upstream(path))
                and (found := sought.search(text))
            ):
                yield f"{path}:{text.count(chr(10), 0, found.start()) + 1}"


def without(*rules: str) -> str:
    """Return what undoes what some rules removed, each one, or several together that are joined by
    ``+``.
    """
    told = "take rule {} out of the profile; `shrinker ablate {}` says what comes back"
    return "; ".join(
        told.format(rule.replace("+", ", "), rule.replace("+", " "))
        for rule in dict.fromkeys(rules)
    )


def did(effect: Mapping[str, int]) -> tuple[str, ...]:
    """Return what a rule did, as rules.json has it, in words."""
    return tuple(several(count, _DID[what]) for what, count in effect.items()) or (
        "nothing in this tree",
    )


def rule(tree: Generated, name: str) -> list[Answer]:
    """Return a rule by its id."""
    data = tree.report("rules.json")
    if name not in data["rules"]:
        return []
    because = did(data["effects"].get(name, {}))
    return [Answer(f"{data['rules'][name][0]} {name}", "rule", because, without(name))]


def error(tree: Generated, text: str) -> list[Answer]:
    """Return a named error, in any part of its text, or the code of the answer of an endpoint that
    is gone.
    """
    if text in ("404", "removed_feature"):
        rows = [(row[1], row[5]) for row in tree.tables.get("ENDPOINTS", ())]
        lost = [*dict.fromkeys(f"{path}: rule {rule}" for path, rule in rows)] or [
            "this server lost no endpoint"
        ]
        change = without(*(rule for _, rule in rows)) or "nothing"
        return [Answer("HTTP 404, removed_feature", "removed", tuple(lost), change)]
    told = _ERROR.search(text)
    if told is None:
        return []
    subject, why = told.groups()
    named = _RULE.search(why)
    because = (f"rule {named[1]}: {why.partition(',')[0]}" if named else why,)
    return [
        Answer(
            subject,
            "removed",
            because,
            without(named[1]) if named else "a [[keep]] rule that names it",
        )
    ]


def flag(tree: Generated, name: str) -> list[Answer]:
    """Return a flag of a command line, as it is typed."""
    if not name.startswith("--"):
        return []
    found: list[Answer] = []
    options, refusals = tree.tables.get("OPTIONS", ()), tree.report("interface.json")["refused"]
    for names, choices, feature, rule, _ in options:
        if name in names:
            subject = " ".join((name, *choices))
            found.append(Answer(subject, "removed", (f"rule {rule}: {feature}",), without(rule)))
    word = name.lstrip("-").replace("-", "_")
    declared = rf"add_argument\(\s*([\"']{re.escape(name)}[\"'])|^    ({re.escape(word)}): A\["
    place = tree.first(declared, word) or tree.first(declared, name)
    if place and all(answer.subject != name for answer in found):
        because, refused = list[str](), [row for row in refusals if row["subject"] == name]
        for row in refused:
            texts = " ".join(row["values"] or row["only"])
            said = f"all but {texts}" if row["only"] else texts or "any value"
            because.append(f"{said} is refused by rule {row['rule']}. {row['instead']}")
        change = (
            without(*(row["rule"] for row in refused))
            or "a [[fact]] that says it is off, with a [[reject]]"
        )
        if not because:
            because = [
                "the command line takes it",
                _read(tree, rf"\.({word})\b|[\"']({word})[\"']", word, place),
            ]
        found.append(
            Answer(name, "refused" if refused else "kept", tuple(because), change, generated=place)
        )
    if not found:
        fields = (
            field
            for _, text in tree.texts()
            for field in re.findall(r"^    (\w+): A\[", text, re.MULTILINE)
        )
        near = [*(n for row in options for n in row[0]), *(row["subject"] for row in refusals)]
        near += (f"--{field.replace('_', '-')}" for field in fields)
        # As argparse has it.
        longer = sorted({each for each in near if each.startswith(name)})
        if not longer:
            raise unknown(name, near)
        if longer[1:]:
            raise InputError(
                f"{len(longer)} flags begin with {name}: {', '.join(longer[:6])}", "give more of it"
            )
        short = f"a command line takes {name} for {longer[0]}"
        found = [
            replace(answer, because=(short, *answer.because)) for answer in flag(tree, longer[0])
        ]
    return found


def _read(tree: Generated, pattern: str, word: str, place: str) -> str:
    """Return where kept code reads what stands at a place."""
    places = [*tree.places(pattern, word)]
    return (
        _told(places, "names")
        if places
        else f"no kept code names it but {place.rpartition('/')[2]}"
    )


def _told(places: Sequence[str], verb: str) -> str:
    return f"kept code {verb} it: {places[0]}" + (
        f" and {len(places) - 1:,} more" if places[1:] else ""
    )


def variable(tree: Generated, name: str) -> list[Answer]:
    """Return an environment variable."""
    if not VARIABLE.fullmatch(name):
        return []
    for rule, names in tree.tables.get("SWITCHES", ()):
        for one in names.split():
            if one.rstrip("=") == name:
                says = f"rule {rule} says that no run of this server sets it"
                refused = (
                    f"a run in which it {'is set' if one.endswith('=') else 'means yes'} is refused"
                )
                return [Answer(name, "removed", (says, refused), without(rule))]
    place = tree.first(rf"\b{name}\b", name)
    if not place:
        return []
    read = _read(tree, rf"(?:\.|[\"'])({name})\b", name, place)
    return [Answer(name, "kept", (read,), "a [[fact]] with `environment`", generated=place)]


def said(tree: Generated, name: str) -> list[Answer]:
    """Return a text that kept code says: a metric, a choice of a flag, a message.

    A part of a word is none: it may be a typing error.
    """
    found = [*tree.places(rf"[\"'][^\"'\n]*(?<!\w)({re.escape(name)})(?!\w)", name)]
    if not found:
        return []
    return [
        Answer(
            name, "kept", (_told(found, "says"),), "it goes with what says it", generated=found[0]
        )
    ]


def endpoint(tree: Generated, name: str) -> list[Answer]:
    """Return a path of the server."""
    if not name.startswith("/") or Path(name.rpartition(":")[0] or name).exists():
        return []
    rows = [row for row in tree.tables.get("ENDPOINTS", ()) if row[1] == name]
    if rows:
        feature, rule = rows[0][4], rows[0][5]
        methods = " ".join(sorted({method for row in rows for method in row[3]}))
        answer = (
            "a client is told so and the socket closed"
            if methods == "WEBSOCKET"
            else "it answers 404"
        )
        return [
            Answer(
                f"{methods} {name}",
                "removed",
                (f"rule {rule}: {feature}; {answer}",),
                without(rule),
            )
        ]
    place = tree.first(rf"@\w+\.(?:\w+)\(\s*[\"']({re.escape(name)})[\"']", name)
    if place:
        change = "a [[remove]] rule with its `definitions`"
        return [Answer(name, "kept", ("the server has it",), change, generated=place)]
    raise unknown(
        name,
        {
            n
            for _, t in tree.texts()
            for n in re.findall(r"@\w+\.\w+\(\s*[\"'](/[\w/{}.-]*)[\"']", t)
        },
    )


def cause(step: Edge) -> str:
    """Return what an edge comes from, and where it stands."""
    at = f" ({step.path}:{step.line})" if step.path else ""
    return f"{step.src.partition(':')[2]}{at}"
