"""Run a server of a tree, ask it one declared script of requests, and compare what two servers answered.

The engine of the levels that serve a model: the simulated one and the one on GPUs. It needs nothing but the standard
library, so that it runs in a cluster's environment as it is.

    with Server(Launch("upstream", command, environment, log)) as server:
        seconds = server.wait_ready()
        record = perform(f"http://127.0.0.1:{port}", script(Scale(tokens=16)), seconds=600)
    verdicts = judge(upstream, upstream_again, generated)
"""

from __future__ import annotations

from equivalence.serving.client import perform
from equivalence.serving.compare import Difference, Verdict, compare, differences, judge
from equivalence.serving.masking import VOLATILE, mask
from equivalence.serving.record import Answer, Record
from equivalence.serving.script import Request, Scale, script
from equivalence.serving.server import Launch, NotReady, Server, free_port

__all__ = [
    "VOLATILE",
    "Answer",
    "Difference",
    "Launch",
    "NotReady",
    "Record",
    "Request",
    "Scale",
    "Server",
    "Verdict",
    "compare",
    "differences",
    "free_port",
    "judge",
    "mask",
    "perform",
    "script",
]
