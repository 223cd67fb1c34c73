import torch
from torch import nn


class SymbolTable(nn.Module):
    """One vector for each symbol; padding (id ``pad``) is embedded as zeros."""

    def __init__(self, symbols: int, width: int, pad: int = 0):
        super().__init__()
        self.rows = nn.Embedding(symbols, width, padding_idx=pad)
        bound = width**-0.5
        nn.init.uniform_(self.rows.weight, -bound, bound)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.rows(ids)
