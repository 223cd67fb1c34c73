"""Reading notes of a choir: singers listen to themselves in time, or to the conductor, who is heard all at once."""

from types import SimpleNamespace

import torch
from torch import nn


class Listening(nn.Module):
    """Attention; `causal` is about the singers' own beats, a conductor's may all be heard."""

    def __init__(self, cfg: SimpleNamespace):
        super().__init__()
        self.heads, self.causal = cfg.num_heads, cfg.causal
        self.ask, self.offer, self.tell, self.mix = (nn.Linear(cfg.width, cfg.width) for _ in range(4))

    def forward(self, singers, conductor=None):
        others = conductor if conductor is not None else singers
        q, k, v = (self.divided(layer(x)) for layer, x in ((self.ask, singers), (self.offer, others), (self.tell, others)))
        scores = torch.einsum("bhid,bhjd->bhij", q, k) / q.size(-1) ** 0.5
        if conductor is None and self.causal:
            beat = torch.arange(singers.size(1), device=singers.device)
            scores = scores.masked_fill(beat[None, :] > beat[:, None], float("-inf"))
        heard = torch.einsum("bhij,bhjd->bihd", scores.softmax(-1), v)
        return self.mix(heard.flatten(-2))

    def divided(self, x):
        return x.unflatten(-1, (self.heads, -1)).movedim(2, 1)
