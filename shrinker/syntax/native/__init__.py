"""What is said of native code by reading it: no decisions."""

from shrinker.syntax.native.conditionals import refuted_lines, without_refuted
from shrinker.syntax.native.reader import read_native
from shrinker.syntax.native.source import Declaration, Definition, Lines, NativeSource, Registration

__all__ = [
    "Declaration",
    "Definition",
    "Lines",
    "NativeSource",
    "Registration",
    "read_native",
    "refuted_lines",
    "without_refuted",
]
