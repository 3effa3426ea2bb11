"""Run a server of a tree, ask it one declared script of requests, and compare what two servers answered.

The engine of the levels that serve a model: the simulated one and the one on GPUs. It needs nothing but the standard
library, so that it runs in a cluster's environment as it is.

    with Server(Launch("upstream", command, environment, log)) as server:
        seconds = server.wait_ready()
        answers = perform(f"http://127.0.0.1:{port}", script(Scale(tokens=16)), seconds=600)
    found = differences("health", upstream["health"], generated["health"])
"""

from equivalence.serving.client import perform as perform
from equivalence.serving.record import Answer as Answer
from equivalence.serving.record import Answers as Answers
from equivalence.serving.record import Difference as Difference
from equivalence.serving.record import differences as differences
from equivalence.serving.record import mask as mask
from equivalence.serving.record import streamed_alike as streamed_alike
from equivalence.serving.script import INTERFACE as INTERFACE
from equivalence.serving.script import Request as Request
from equivalence.serving.script import Scale as Scale
from equivalence.serving.script import script as script
from equivalence.serving.server import Launch as Launch
from equivalence.serving.server import NotReady as NotReady
from equivalence.serving.server import Server as Server
from equivalence.serving.server import free_port as free_port
