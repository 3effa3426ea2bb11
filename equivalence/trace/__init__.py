"""Every line that upstream executed stands in the generated tree, or there is a reason of a closed list."""

from equivalence.trace.compare import KINDS, Comparison, Missing, Stated, compare

__all__ = ["KINDS", "Comparison", "Missing", "Stated", "compare"]
