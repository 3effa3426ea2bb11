"""Run a tree of SGLang on a machine without a GPU: its CUDA path, on CPU tensors.

Two halves. *Outside* (any Python, standard library only): `environment.Simulation` says with which interpreter and
variables a command runs simulated, `equivalence.processes` starts it and always ends it. *Inside* (the interpreter of
`requirements.txt`, through `site/sitecustomize.py`): `inside.install` puts the simulation in place before anything of the
tree is imported:

- `device`, `tensors`: a `torch.cuda` of settable capability, whose memory is the CPU's;
- `packages`: packages that need a GPU import, and raise when something of them is called;
- `kernels`: references in plain PyTorch for the kernels that DeepSeek calls, each with the place of what it stands for;
- `interpreter`: Triton's kernels, by Triton's own interpreter with the arithmetic of bfloat16 and float8 put right;
- `graphs`: recording and replaying of CUDA graphs;
- `calls`: the set of kernels that were called, and each stub that was.

By itself: `python -m equivalence.simulation TREE/python -- -m sglang.launch_server …`.
"""
