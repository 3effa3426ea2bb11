"""The text of `--help` of both trees, option by option."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

_OPTION = re.compile(r"  (?P<names>-{1,2}[A-Za-z][^\n]*?)(?:  |$)")
_LISTS = re.compile(r"\[('[^\[\]]*')\]")
_CHOICES = re.compile(r"\{([^{}]*)\}")


def options(text: str) -> dict[str, str]:
    """Each option's entry by its longest name, blanks normalised; `(text)` is all that is no entry.

    The usage line is left out: it repeats the entries.
    """
    body = re.sub(r"\A.*?(?=^\S[^\n]*:$|^options:)", "", text, count=1, flags=re.DOTALL | re.MULTILINE)
    found: dict[str, list[str]] = {"(text)": []}
    current = "(text)"
    for line in body.splitlines():
        if _OPTION.match(line):
            names = re.findall(r"--?[A-Za-z][\w-]*", _CHOICES.sub("", line.partition("   ")[0]))
            current = max(names, key=len)
            found.setdefault(current, [])
        elif line and not line.startswith("    "):
            current = "(text)"
        found[current].append(line)
    return {name: " ".join(" ".join(lines).split()) for name, lines in found.items()}


def compare(
    upstream: str, generated: str, listed: Iterable[Mapping[str, Any]], refused: Iterable[Mapping[str, Any]] = ()
) -> Iterator[tuple[str, str]]:
    """Option and what differs, for each difference that is not listed.

    Args:
        listed: rows of `interface.json`: `subject` is a flag, `kind` what differs, `before` and `after` the values.
        refused: its rows of refusals: a value that is refused may be no choice any more.
    """
    before, after = options(upstream), options(generated)
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for row in listed:
        rows.setdefault(row["subject"], []).append(row)
    for row in refused:
        for choice in _refused(row, before.get(row["subject"], "")):
            change = {"kind": "choice removed", "before": choice, "after": ""}
            # Listed or refused: the choice may still be there.
            if choice not in _choices(after.get(row["subject"], "")):
                rows.setdefault(row["subject"], []).append(change)
    for name in dict.fromkeys([*before, *after]):
        if name not in after:
            if not any(row["kind"] == "removed" for row in rows.get(name, ())):
                yield name, "upstream has it, the generated tree does not, and no rule is listed for it"
        elif name not in before:
            yield name, "the generated tree has it and upstream does not"
        elif before[name] != after[name] and not _explained(before[name], after[name], rows.get(name, ())):
            yield name, f"upstream says {_near(before[name], after[name])}"


def _explained(before: str, after: str, rows: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the listed rows turn upstream's entry into the generated one."""
    for row in rows:
        old, new = (str(row[name]).strip("'\"") for name in ("before", "after"))
        if row["kind"] == "choice removed":
            # A text may list the choices once more, as Python prints them.
            for pattern, gone in ((_CHOICES, old), (_LISTS, f"'{old}'")):
                before = pattern.sub(partial(_without, gone), before)
        elif row["kind"] == "default changed":
            before = before.replace(old, new)
        elif row["kind"] in ("changed", "choices changed"):
            return True
    # Line breaks within lists of choices move with their length.
    return re.sub(r"\s", "", before) == re.sub(r"\s", "", after)


def _without(gone: str, found: re.Match[str]) -> str:
    """A list of choices without one of them."""
    return found[0][0] + ",".join(each for each in found[1].split(",") if each.strip() != gone).strip() + found[0][-1]


def _choices(entry: str) -> list[str]:
    """The choices that an entry lists, the first time it does."""
    found = _CHOICES.search(entry)
    return [choice.strip() for choice in found[1].split(",")] if found else []


def _refused(row: Mapping[str, Any], entry: str) -> list[str]:
    """Choices of an entry that a row of refusals takes away: its values, or all but those it leaves."""
    only = row.get("only") or ()
    choices = _choices(entry)
    return [c for c in choices if c in row.get("values", ()) or (only and c not in only and c != "auto")]


def _near(before: str, after: str) -> str:
    """Both texts from where they part."""
    start = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    start = max(0, start - 20)
    return f"…{before[start : start + 80]}…, the generated tree …{after[start : start + 80]}…"
