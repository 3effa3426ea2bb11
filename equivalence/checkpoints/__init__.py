"""Checkpoints of DeepSeek's architectures, made on the spot: real widths where kernels depend on
them, few layers and experts.
"""
