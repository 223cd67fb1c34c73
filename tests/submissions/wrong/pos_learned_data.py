import torch
import torch.nn as nn


class LearnablePE(nn.Module):
    def __init__(self, seq_len: int, d_model: int) -> None:
        super().__init__()
        self.pos_embedding = nn.Parameter(torch.randn(1, seq_len, d_model))
        self.seq_len = seq_len

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        n = tokens.size(1)
        if n > self.seq_len:
            raise ValueError(f"at most {self.seq_len} tokens")
        return tokens + self.pos_embedding[:, :n].data
