"""Attention for a dialogue. Its store of keys and values is made of the same settings as the layer."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Settings:
    width: int = 48
    heads: int = 6
    dialogues: int = 16
    max_tokens: int = 64


class CacheOfKeys:
    def __init__(self, settings: Settings, dtype: torch.dtype = torch.float32):
        shape = settings.dialogues, settings.max_tokens, settings.heads, settings.width // settings.heads
        self.keys, self.values = torch.empty(shape, dtype=dtype), torch.empty(shape, dtype=dtype)
        self.filled = 0

    def extend(self, keys: torch.Tensor, values: torch.Tensor):
        n, until = len(keys), self.filled + keys.shape[1]
        assert until <= self.keys.shape[1], "no room for so many tokens"
        self.keys[:n, self.filled : until], self.values[:n, self.filled : until] = keys, values
        self.filled = until
        return self.keys[:n, :until], self.values[:n, :until]


class DialogueAttention(nn.Module):
    """Causal self-attention. With ``store``, x (dialogues, turn, width) is the next turn, of several tokens or one."""

    def __init__(self, settings: Settings):
        super().__init__()
        self.heads = settings.heads
        self.into = nn.Linear(settings.width, 3 * settings.width)
        self.back = nn.Linear(settings.width, settings.width)

    def forward(self, x: torch.Tensor, store: CacheOfKeys | None = None) -> torch.Tensor:
        turn = x.shape[1]
        q, k, v = self.into(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        if store is not None:
            k, v = store.extend(k, v)
        q = q * q.shape[-1] ** -0.5
        scores = torch.einsum("nthd,nshd->nhts", q, k)
        seen = torch.ones_like(scores[0, 0], dtype=torch.bool).tril(k.shape[1] - turn)
        weights = scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)
        return self.back(torch.einsum("nhts,nshd->nthd", weights, v).flatten(2))
