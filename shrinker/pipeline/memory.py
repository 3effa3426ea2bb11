"""The memory of a run."""

import resource
import sys


def peak_memory(jobs: int) -> int:
    """Upper bound of the run's memory in bytes: this process, and as many of the largest worker as there are."""
    unit = 1 if sys.platform == "darwin" else 1024
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return (own + jobs * worker) * unit
