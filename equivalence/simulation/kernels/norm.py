"""Root-mean-square norms and activations."""

from typing import Any

import torch

from equivalence.simulation.kernels.registry import Tensor, given, jit, kernel

_NORM = "flashinfer include/flashinfer/norm.cuh, as built into sgl-kernel/csrc/elementwise"


def rms(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """`x / sqrt(mean(x²) + eps) * weight` over the last axis, in float32, in the type of `x`."""
    wide = x.float()
    scaled = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return (scaled * weight.float()).to(x.dtype)


@kernel("sgl_kernel", source=_NORM)
def rmsnorm(
    input: Tensor, weight: Tensor, eps: float = 1e-6, out: Tensor | None = None, enable_pdl: Any = None
) -> Tensor:
    """RMS norm."""
    return given(rms(input, weight, eps), out)


@kernel("sgl_kernel", source=_NORM)
def fused_add_rmsnorm(
    input: Tensor, residual: Tensor, weight: Tensor, eps: float = 1e-6, enable_pdl: Any = None
) -> None:
    """`residual += input`, then `input` becomes its RMS norm."""
    residual.copy_((input.float() + residual.float()).to(input.dtype))
    input.copy_(rms(residual, weight, eps))


@kernel("sgl_kernel", source="sgl-kernel/csrc/elementwise/activation.cu")
def silu_and_mul(input: Tensor, out: Tensor | None = None) -> Tensor:
    """`silu(first half) * second half` of the last axis."""
    gate, up = input.float().chunk(2, -1)
    return given((gate * torch.sigmoid(gate) * up).to(input.dtype), out)


@jit("activation", "run_activation", source="elementwise/activation.cuh")
def run_activation(x: Tensor, out: Tensor, name: str) -> None:
    """`silu_and_mul`; DeepSeek has no other activation."""
    assert name == "silu", name
    silu_and_mul(x, out)


@jit("activation", "run_activation_filtered", source="elementwise/activation.cuh")
def run_activation_filtered(x: Tensor, out: Tensor, expert_ids: Tensor, step: int, name: str) -> None:
    """As above; rows of experts that are elsewhere (id -1) are not read by anyone and may hold anything."""
    run_activation(x, out, name)


@jit("fused_eh_norm", "fused_eh_norm", source="elementwise/fused_eh_norm.cuh")
def fused_eh_norm(e: Tensor, h: Tensor, e_weight: Tensor, h_weight: Tensor, out: Tensor, eps: float) -> None:
    """The two norms at the entrance of the MTP layer, side by side."""
    out.copy_(torch.cat([rms(e, e_weight, eps), rms(h, h_weight, eps)], -1))


@kernel("flashinfer.norm", source="flashinfer/norm.py")
def layernorm(input: Tensor, gemma: Tensor, beta: Tensor, eps: float = 1e-6) -> Tensor:
    """Rows less their mean, by their deviation, times a weight, plus a bias; all in float32."""
    wide = torch.nn.functional.layer_norm(input.float(), input.shape[-1:], gemma.float(), beta.float(), eps)
    return wide.to(input.dtype)


@jit("qknorm", "qknorm", source="elementwise/qknorm.cuh")
def qknorm(q: Tensor, k: Tensor, q_weight: Tensor, k_weight: Tensor, eps: float) -> None:
    """Each head of queries and of keys becomes its RMS norm, in place."""
    q.copy_(rms(q, q_weight, eps))
    k.copy_(rms(k, k_weight, eps))
