"""Run a tree of SGLang on a machine without a GPU: its CUDA path, on CPU tensors.

Two halves. *Outside* (any Python, standard library only): `environment.Simulation` says with which
interpreter and variables a command runs simulated, `equivalence.processes` starts it and always
ends it. *Inside* (the interpreter of `requirements.txt`, through `site/sitecustomize.py`):
`inside.install` puts the simulation in place before anything of the tree is imported. By itself:
`python -m equivalence.simulation TREE/python -- -m sglang.launch_server …`.
"""
