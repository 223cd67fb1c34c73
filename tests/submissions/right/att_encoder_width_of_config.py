"""Captions look at an image: the decoder's half of a captioner, configured."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True)
class LookConfig:
    hidden_size: int = 128
    encoder_hidden_size: int = 768
    num_attention_heads: int = 8


class LookAtImage(nn.Module):
    """words (B, T, hidden_size) attend to patches (B, P, encoder_hidden_size)."""

    def __init__(self, config: LookConfig):
        super().__init__()
        self.n = config.num_attention_heads
        self.to_q = nn.Linear(config.hidden_size, config.hidden_size)
        self.to_k = nn.Linear(config.encoder_hidden_size, config.hidden_size)
        self.to_v = nn.Linear(config.encoder_hidden_size, config.hidden_size)
        self.to_out = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, words, encoder_hidden_states):
        def heads(t):
            return t.reshape(*t.shape[:2], self.n, t.shape[2] // self.n).permute(0, 2, 1, 3)

        q = heads(self.to_q(words))
        k, v = heads(self.to_k(encoder_hidden_states)), heads(self.to_v(encoder_hidden_states))
        weights = torch.softmax(torch.matmul(q, k.mT) * q.size(-1) ** -0.5, -1)
        return self.to_out(torch.matmul(weights, v).permute(0, 2, 1, 3).reshape(words.shape))
