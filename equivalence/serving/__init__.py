"""Run a server of a tree, ask it one declared script of requests, and compare what two servers answered.

The engine of the levels that serve a model: the simulated one and the one on GPUs. It needs nothing but the standard
library, so that it runs in a cluster's environment as it is.

    with Server(Launch("upstream", command, environment, log)) as server:
        seconds = server.wait_ready()
        answers = perform(f"http://127.0.0.1:{port}", script(Scale(tokens=16)), seconds=600)
    found = differences("health", upstream["health"], generated["health"])
"""
