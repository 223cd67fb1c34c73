from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class AttnConfig:
    n_embd: int = 64
    n_head: int = 4
    bidirectional: bool = False


class Attention(nn.Module):
    def __init__(self, config: AttnConfig):
        super().__init__()
        self.heads = config.n_head
        self.causal = not config.bidirectional
        self.q_proj = nn.Linear(config.n_embd, config.n_embd)
        self.k_proj = nn.Linear(config.n_embd, config.n_embd)
        self.v_proj = nn.Linear(config.n_embd, config.n_embd)
        self.o_proj = nn.Linear(config.n_embd, config.n_embd)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, self.heads, -1).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.o_proj(y.transpose(1, 2).contiguous().view(B, T, C))
