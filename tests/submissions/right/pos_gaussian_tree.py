"""Random Fourier features (Tancik et al. 2020): the directions are drawn once, and handed on in a dict."""

import math

import torch


def init(dims: int, n_frequencies: int, bandwidth: float = 1.0, seed: int = 0) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return {"directions": bandwidth * torch.randn(dims, n_frequencies, generator=generator)}


def embed(params, coords):
    """coords (..., dims) -> (..., 2 · n_frequencies)"""
    turns = 2 * math.pi * coords @ params["directions"]
    return torch.cat([torch.cos(turns), torch.sin(turns)], dim=-1)
