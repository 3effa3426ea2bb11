"""Plain formulas in float64, and what references are given."""

import torch


def near(found: torch.Tensor, wanted: torch.Tensor, tolerance: float = 1e-5) -> None:
    """Fail unless both are the same but for rounding."""
    error = (found.double() - wanted.double()).abs().max() / wanted.double().abs().max()
    assert error < tolerance, error


def turns(positions: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The angles of four pairs at each position, and the cache of their cosines and sines."""
    angles = torch.outer(torch.arange(float(positions)), 10000 ** (-torch.arange(4.0) / 4))
    return angles, torch.cat([angles.cos(), angles.sin()], -1)


def full(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool
) -> torch.Tensor:
    """Attention of one sequence, in float64, token by token."""
    groups = q.shape[1] // k.shape[1]
    rows = []
    for i in range(q.shape[0]):
        seen = k.shape[0] - q.shape[0] + i + 1 if causal else k.shape[0]
        heads = []
        for h in range(q.shape[1]):
            keys, values = k[:seen, h // groups].double(), v[:seen, h // groups].double()
            heads.append(torch.softmax(keys @ q[i, h].double() * scale, 0) @ values)
        rows.append(torch.stack(heads))
    return torch.stack(rows)


def scaled(*shape: int, rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Values of eight bits and the scales of their blocks: `rows` rows, 128 columns."""
    values = torch.randn(*shape).to(torch.float8_e4m3fn)
    return values, torch.rand(*shape[:-2], -(-shape[-2] // rows), shape[-1] // 128) + 0.5
