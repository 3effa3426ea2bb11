"""What generated programs import as `probes`, anew in each world: whatever is called leaves
a mark.
"""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

TICKS = 5
"""How often `tick` says yes: every generated loop ends."""

marks: list[object] = []
ticks = TICKS


class Device:
    """What `torch.device` is here: an object that stands for a text."""

    def __init__(self, text: str) -> None:
        self.type = text.partition(":")[0]
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Device({self._text!r})"


class Thing:
    """A tensor, a runner, a server's arguments: something with a device and with platform
    questions.
    """

    is_npu = False

    def __init__(self, device: str, ready: bool) -> None:
        self.device = Device(device)
        self.is_cuda = device == "cuda"
        self.ready = ready
        self.kind = device

    def __repr__(self) -> str:
        return f"Thing({self.kind!r})"

    def __eq__(self, other: object) -> list[object]:  # type: ignore[override]
        """One answer an element, as a tensor gives."""
        return [self.kind, other]

    def __ne__(self, other: object) -> list[object]:  # type: ignore[override]
        return []

    __hash__ = object.__hash__

    def is_gone(self) -> bool:
        """Asks whether it is another platform's."""
        return False

    def is_auto(self) -> bool:
        """An answer without an effect."""
        return self.ready


def probe(number: object = 0) -> bool:
    """Leave a mark; true unless the number is 0."""
    marks.append(number)
    return bool(number)


def tick() -> bool:
    """True a few times, then false."""
    global ticks
    ticks -= 1
    return ticks >= 0


@contextmanager
def Scope(number: object) -> Iterator[object]:
    """Leave a mark at both ends of a `with` block."""
    marks.append(("enter", number))
    try:
        yield number
    finally:
        marks.append(("leave", number))


def wrap(*args: object, **options: object) -> Callable[[Any], Any]:
    """A decorator that marks how it was asked for."""
    marks.append(("wrap", shown(args), shown(sorted(options.items()))))
    return lambda function: function


def finish(task: Coroutine[Any, Any, object]) -> object:
    """What a coroutine returns that waits for nothing."""
    try:
        task.send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError("it waits")


def take() -> tuple[object, ...]:
    """The marks since the last time; the clock starts again."""
    global ticks
    seen, ticks = tuple(marks), TICKS
    marks.clear()
    return seen


def shown(value: object) -> str:
    """A value without what differs from run to run."""
    match value:
        case set() | frozenset():
            return f"{type(value).__name__}({sorted(map(shown, value))})"
        case tuple() | list():
            return f"{type(value).__name__}({[*map(shown, value)]})"
        case dict():
            return f"dict({[(shown(k), shown(v)) for k, v in value.items()]})"
        case str() | int() | float() | None | Device() | Thing():
            return repr(value)
        case _:
            return f"<{getattr(value, '__name__', type(value).__name__)}>"
