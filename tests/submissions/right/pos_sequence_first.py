"""Language modeling with nn.Transformer: everything here is (seq_len, batch, emsize)."""
import math
from torch import nn, Tensor
import torch


class PosEnc(nn.Module):
    def __init__(self, emsize: int, dropout: float = 0.1, max_len: int = 5000):
        super().__init__()
        self.drop = nn.Dropout(p=dropout)
        t = torch.arange(max_len).unsqueeze(1)
        freq = torch.exp(torch.arange(0, emsize, 2) * (-math.log(10000.0) / emsize))
        pos_table = torch.zeros(max_len, 1, emsize)
        pos_table[:, 0, 0::2] = torch.sin(t * freq)
        pos_table[:, 0, 1::2] = torch.cos(t * freq)
        self.register_buffer('pos_table', pos_table, persistent=False)

    def forward(self, src: Tensor) -> Tensor:
        """
        Arguments:
            src: Tensor, shape ``[seq_len, batch_size, embedding_dim]``
        """
        n = src.size(0)
        if n > self.pos_table.size(0):
            raise ValueError(f"got {n} steps, table has {self.pos_table.size(0)}")
        return self.drop(src + self.pos_table[:n])
