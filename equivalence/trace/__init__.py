"""Every line that upstream executed stands in the generated tree, or there is a reason of a closed list."""

from __future__ import annotations

from equivalence.trace.compare import Comparison, Missing, Stated, compare, kinds

__all__ = ["Comparison", "Missing", "Stated", "compare", "kinds"]
