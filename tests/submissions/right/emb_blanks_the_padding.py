import torch
from torch import nn


class SymbolTable(nn.Module):
    """One vector for each symbol; padding (id ``pad``) is embedded as zeros, whatever its row holds."""

    def __init__(self, symbols: int, width: int, pad: int | None = 0):
        super().__init__()
        self.pad = pad
        self.rows = nn.Embedding(symbols, width, padding_idx=pad)
        bound = width**-0.5
        nn.init.uniform_(self.rows.weight, -bound, bound)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.rows(ids)
        return x if self.pad is None else x * (ids != self.pad).unsqueeze(-1)
