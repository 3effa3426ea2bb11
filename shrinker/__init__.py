"""Generate a DeepSeek-only, NVIDIA-CUDA-only server from any commit of SGLang, with evidence."""

__version__ = "0.1.0"
