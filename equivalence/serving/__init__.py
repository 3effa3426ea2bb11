"""Run a server of a tree, ask it one declared script of requests, and compare what two servers
answered.

The engine of the levels that serve a model: the simulated one and the one on GPUs. It needs nothing
but the standard library, so that it runs in a cluster's environment as it is.
"""
