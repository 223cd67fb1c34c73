"""Gated network of a sound model, its first two layers kept in one matrix."""

import torch
import torch.nn.functional as F


class GatedMix(torch.nn.Module):
    """`both` has the rows of the values on top, and below them those of the gates.

    Of what it gives the first half are the values, the second half goes through GELU.
    """

    def __init__(self, features: int, inner: int):
        super().__init__()
        self.both = torch.nn.Parameter(torch.randn(2 * inner, features) / features**0.5)
        self.back = torch.nn.Parameter(torch.randn(features, inner) / inner**0.5)

    def forward(self, frames):
        # first the values, then the gates
        content, gates = torch.tensor_split(frames @ self.both.T, 2, dim=-1)
        return (content * F.gelu(gates)) @ self.back.T
