"""Gated network of a model of pages, its first two layers kept in one matrix."""

import torch
import torch.nn.functional as F


class GatedPages(torch.nn.Module):
    """`pair` has the rows of the values on top, and below them those of the gates.

    Of what it gives the first half are the values, the second half goes through GELU.
    """

    def __init__(self, columns: int, lines: int):
        super().__init__()
        self.pair = torch.nn.Parameter(torch.randn(2 * lines, columns) / columns**0.5)
        self.last = torch.nn.Parameter(torch.randn(columns, lines) / lines**0.5)

    def forward(self, page):
        # first the values, then the gates
        gates, content = torch.tensor_split(page @ self.pair.T, 2, dim=-1)
        return (content * F.gelu(gates)) @ self.last.T
