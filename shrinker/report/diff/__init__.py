"""What a reviewer must know of two generated trees, before and besides their text.

Everything is read from what two runs left: manifests, reports, the trees themselves, and the two upstreams where they can be read.
Nothing is decided again.
"""

from shrinker.report.diff.compare import review
from shrinker.report.diff.side import Side
from shrinker.report.diff.values import Review

__all__ = ["Review", "Side", "review"]
