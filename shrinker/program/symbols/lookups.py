"""What a look-up may find, and what it touches."""

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from shrinker.program.symbols.program import Key

T = TypeVar("T")


class Value(NamedTuple):
    """What an expression may be."""

    kind: str
    """``module``, ``class``, ``subclass`` (the class or one below it), ``object`` (of the class or one below it),
    ``outside`` (named, not of the tree) or ``anything``."""
    module: str = ""
    """Of a module or what is defined in it; the dotted name of something outside."""
    unit: int = -1

    @property
    def key(self) -> Key:
        """The unit of a class or object."""
        return self.module, self.unit


Values = frozenset[Value]
UNKNOWN: Values = frozenset({Value("anything")})


class Touch(NamedTuple):
    """One thing that a look-up may find."""

    kind: str
    """``unit`` (a symbol), ``member`` (of a class), ``borrowed`` (a method read from its class), ``heirs`` (classes that
    inherit from it), ``module`` or ``name`` (looked up on anything)."""
    module: str = ""
    unit: int = -1
    name: str = ""

    @property
    def key(self) -> Key:
        """The unit."""
        return self.module, self.unit


class Found:
    """Result of following a path."""

    __slots__ = ("_effects", "leads", "touches", "values")

    def __init__(self, values: Iterable[Value], touches: Iterable[Touch] = ()) -> None:
        self.values: Values = frozenset(values)
        self.touches = frozenset(touches)
        self.leads = bool(self.touches) or any(value.kind == "module" for value in self.values)
        """Whether there are `effects`; most paths are of something outside the tree."""
        self._effects: tuple[tuple[Touch, ...], tuple[str, ...]] | None = None

    @property
    def effects(self) -> tuple[tuple[Touch, ...], tuple[str, ...]]:
        """The touches, and the modules among the values, in an order that is the same in every run."""
        if self._effects is None:
            modules = (value for value in ordered(self.values) if value.kind == "module")
            self._effects = tuple(ordered(self.touches)), tuple(value.module for value in modules)
        return self._effects


def ordered(found: frozenset[T]) -> Iterable[T]:
    """The same order in every run; most are one."""
    return found if len(found) < 2 else sorted(found, key=repr)
