"""What is read of one C, C++ or CUDA file."""

from typing import NamedTuple


class Lines(NamedTuple):
    """Whole lines of a file, from 1; the first is 0 for what shares its lines with something else."""

    first: int
    last: int


class Registration(NamedTuple):
    """A statement by which a source offers a function under a name."""

    name: str
    functions: tuple[str, ...]
    """Names in it of what may be the function."""
    line: int
    lines: Lines


class Declaration(NamedTuple):
    """A statement that declares a function and does nothing else."""

    name: str
    lines: Lines


class NativeSource(NamedTuple):
    """One file."""

    words: frozenset[str]
    """Names that it mentions outside of registrations, but for those that it only declares."""
    defined: frozenset[str]
    """Names that it may define as a function."""
    methods: frozenset[str]
    """Of these, those that are defined outside of their class: ``Class::name``."""
    promised: frozenset[str]
    """Names of namespaces that it declares and does not define there: functions, and variables of other sources."""
    members: frozenset[str]
    """The same of classes: ``Class::name``."""
    pasted: frozenset[tuple[str, str]]
    """What stands before and after the computed part of a name that a macro puts together."""
    spoken: frozenset[str]
    """Names in its texts after a namespace: ``sgl::name``."""
    registrations: tuple[Registration, ...]
    declarations: tuple[Declaration, ...]
    acts: bool
    """True when the library may need it for what happens when it is loaded."""
