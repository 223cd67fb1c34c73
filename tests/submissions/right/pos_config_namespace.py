import math
from types import SimpleNamespace

import torch
from torch import nn

default_args = SimpleNamespace(hidden_size=64, max_position_embeddings=128, hidden_dropout_prob=0.0)


class CosFirst(nn.Module):
    """[cos | sin], the way the speech people lay it out."""

    def __init__(self, args=default_args):
        super().__init__()
        h = args.hidden_size
        assert h % 2 == 0
        w = torch.tensor([math.exp(-math.log(10000.0) * 2 * j / h) for j in range(h // 2)])
        a = torch.arange(args.max_position_embeddings).float().view(-1, 1) * w.view(1, -1)
        self.register_buffer("embed", torch.cat((a.cos(), a.sin()), 1))
        self.p = args.hidden_dropout_prob

    def forward(self, hidden_states):
        T = hidden_states.shape[-2]
        pe = self.embed.narrow(0, 0, T)
        return nn.functional.dropout(hidden_states + pe, self.p, self.training)
