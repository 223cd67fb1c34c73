import torch
import torch.nn as nn


class MaskedSelfAttention(nn.Module):
    """One layer of a character model: every position looks at itself and at what came before."""

    def __init__(self, d_model: int, n_head: int, block_size: int = 256):
        super().__init__()
        assert d_model % n_head == 0
        self.n_head, self.width = n_head, d_model // n_head
        self.proj_in = nn.Linear(d_model, 3 * d_model)
        self.proj_out = nn.Linear(d_model, d_model)
        self.register_buffer("allowed", torch.ones(block_size, block_size).tril().bool())

    def forward(self, x):
        batch, time, width = x.shape
        q, k, v = self.proj_in(x).chunk(3, dim=-1)
        q, k, v = (t.reshape(batch, time, self.n_head, self.width).swapaxes(1, 2) for t in (q, k, v))
        scores = q @ k.mT * self.width ** -0.5
        scores.masked_fill(~self.allowed[:time, :time], -torch.inf)
        mixed = scores.softmax(-1) @ v
        return self.proj_out(mixed.swapaxes(1, 2).reshape(batch, time, width))
