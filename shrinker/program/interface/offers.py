"""What one tree offers to people, as it is written there, and what two trees write otherwise."""

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

    group: str
    """The command line (module, and class or function below it) of a flag, the module of an endpoint: what goes as a whole is told as one."""
    subject: str
    """``--flag``, ``GET /path``, ``Model.field``."""
    names: tuple[str, ...] = ()
    """Of a flag all of them, a computed one as it is written; of an endpoint method, path and environment variable."""
    parts: tuple[tuple[str, str], ...] = ()
    """What else is written of it, each part by its label."""
    choices: tuple[Choice, ...] | None = None
    """None where there are none, or the syntax does not tell them."""
    attribute: str = ""
    """What a flag fills, where that is written: one of its names need not say so (``dest=``, ``cli_name=``)."""
    module: str = field(compare=False)
    where: str = field(compare=False)
    """Module, and class or function below it."""
    line: int = field(compare=False)
    end_line: int = field(default=0, compare=False)


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

    @property
    def offer(self) -> Offer:
        """The one that is there: the old one of two."""
        found = self.old or self.new
        assert found is not None, "one of the two is there"
        return found


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
    before, after = (dict.fromkeys(each.choices or ()) if told else {} for each in (old, new))
    yield from (
        Changed(old, new, "choice removed", choice.text, choice=choice) for choice in before if choice not in after
    )
    yield from (Changed(old, new, "choice added", "", choice.text) for choice in after if choice not in before)
    for (label, text), (_, other) in zip(old.parts, new.parts, strict=True):
        if text != other and not (told and label == "choices"):
            yield Changed(old, new, f"{label} changed".strip(), text, other)
