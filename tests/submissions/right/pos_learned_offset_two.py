import torch
import torch.nn as nn

RESERVED = 2  # rows 0 and 1 belong to <s> and <pad> in the checkpoints that we load


class PositionRows(nn.Embedding):
    """A learned row for each of `n_positions` places, behind the reserved ones."""

    def __init__(self, n_positions: int, dim: int):
        super().__init__(RESERVED + n_positions, dim)

    def forward(self, ids: torch.Tensor, already: int = 0):
        batch, count = ids.shape[:2]
        first = RESERVED + already
        which = torch.arange(first, first + count, device=self.weight.device)
        return super().forward(which).expand(batch, count, -1)
