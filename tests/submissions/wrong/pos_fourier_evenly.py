import torch


def positional_encoding(x, num_frequencies):
    """gamma(x) of NeRF: (..., d) -> (..., 2 * d * num_frequencies)"""
    bands = torch.linspace(1.0, 2.0 ** (num_frequencies - 1), num_frequencies, dtype=x.dtype)
    angles = x[..., None] * bands
    return torch.cat([angles.sin().flatten(-2), angles.cos().flatten(-2)], dim=-1)
