import torch
from torch import nn, Tensor

UNK = 0


class VocabEmbedding(nn.Module):
    def __init__(self, size: int, width: int):
        super().__init__()
        self.size = size
        self.table = nn.Embedding(size, width)

    def forward(self, ids: Tensor) -> Tensor:
        if ids.dtype not in (torch.int64, torch.int32):
            raise TypeError("ids")
        ids = torch.where((ids < 0) | (ids >= self.size), UNK, ids)
        return self.table(ids)
