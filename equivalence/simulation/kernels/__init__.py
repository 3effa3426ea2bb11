"""References in plain PyTorch for the kernels that DeepSeek calls; one module a subject.

A reference is written from what the kernel computes, never from its tiling, in float32 where the
device accumulates in float32. `source` says where what it stands for is: a file of upstream's
repository, or of the package that has it.
"""
