"""What one tree offers to people, as it is written there, and what two trees write otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, order=True)
class Choice:
    """One value of a list of choices, and where it is written."""

    text: str
    module: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Offer:
    """A flag, an endpoint, or a field of what is sent: equal where the same is written of it, wherever that stands."""

    module: str
    owner: str
    """Class or function that has it, below the module; empty for the module itself."""
    subject: str
    """``--flag``, ``GET /path``, ``Model.field``."""
    parts: tuple[tuple[str, str], ...] = ()
    """What else is written of it, each part by its label."""
    choices: tuple[Choice, ...] | None = None
    """None where there are none, or the syntax does not tell them."""
    line: int = field(default=0, compare=False)
    end_line: int = field(default=0, compare=False)

    @property
    def where(self) -> str:
        """Module, and class or function below it."""
        return f"{self.module}.{self.owner}" if self.owner else self.module


@dataclass(frozen=True, slots=True)
class Changed:
    """One part of an offer that two trees write otherwise, or an offer that only one has."""

    old: Offer | None
    new: Offer | None
    kind: str
    """``removed``, ``added``, ``choice removed``, ``choice added``, ``changed``, or the label of a part and ``changed``."""
    before: str = ""
    after: str = ""
    choice: Choice | None = None
    """That was removed."""


def changes(before: Iterable[Offer], after: Iterable[Offer]) -> Iterator[Changed]:
    """What differs, in the order of `before`, then what only `after` has."""
    old, now = dict.fromkeys(before), dict.fromkeys(after)
    new = {(offer.where, offer.subject): offer for offer in now if offer not in old}
    for offer in old:
        if offer in now:
            continue
        other = new.pop((offer.where, offer.subject), None)
        if other is None:
            yield Changed(offer, None, "removed")
        else:
            yield from _parts(offer, other)
    yield from (Changed(None, offer, "added") for offer in new.values())


def _parts(old: Offer, new: Offer) -> Iterator[Changed]:
    told = old.choices is not None and new.choices is not None
    for choice in dict.fromkeys(old.choices or ()) if told else ():
        if choice not in (new.choices or ()):
            yield Changed(old, new, "choice removed", choice.text, choice=choice)
    for choice in dict.fromkeys(new.choices or ()) if told else ():
        if choice not in (old.choices or ()):
            yield Changed(old, new, "choice added", "", choice.text)
    for (label, text), (_, other) in zip(old.parts, new.parts, strict=True):
        if text != other and not (told and label == "choices"):
            yield Changed(old, new, f"{label} changed".strip(), text, other)
