"""Every line that upstream executed stands in the generated tree, or there is a reason of a closed list."""

from equivalence.trace.compare import EXECUTED, KINDS, Comparison, Stated, compare

__all__ = ["EXECUTED", "KINDS", "Comparison", "Stated", "compare"]
