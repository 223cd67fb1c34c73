"""GPT in one file; what comes back is a dict of logits and of what was seen, which may be handed in again."""

import torch
from torch import nn
from torch.nn import functional as F


class Attend(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.into, self.back = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x, before):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.into(x).chunk(3, -1))
        if before is not None:
            k, v = torch.cat([before[0], k], 2), torch.cat([before[1], v], 2)
        new, all_ = q.shape[2], k.shape[2]
        sees = torch.ones(new, all_, dtype=torch.bool, device=x.device).tril(all_ - new)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=sees)
        return self.back(y.transpose(1, 2).flatten(2)), torch.stack([k, v])


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm_a, self.norm_b = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attend = Attend(dim, heads)
        self.mix = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x, before):
        y, seen = self.attend(self.norm_a(x), before)
        x = x + y
        return x + self.mix(self.norm_b(x)), seen


class SmallGPT(nn.Module):
    """ids (B, T) -> {"logits": (B, T, vocab_size), "seen": one tensor of keys and values for each layer}.

    Hand `seen` back as `past`, with the new ids alone.
    """

    def __init__(self, vocab_size, n_positions=128, dim=64, heads=4, n_layers=2):
        super().__init__()
        self.words, self.places = nn.Embedding(vocab_size, dim), nn.Embedding(n_positions, dim)
        self.layers = nn.ModuleList([Layer(dim, heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(dim)

    def forward(self, ids, past=None):
        start = 0 if past is None else past[0].shape[3]
        where = torch.arange(start, start + ids.shape[1], device=ids.device)
        x, seen = self.words(ids) + self.places(where), []
        for i, layer in enumerate(self.layers):
            x, kept = layer(x, None if past is None else past[i])
            seen.append(kept)
        return {"logits": F.linear(self.norm(x), self.words.weight), "seen": seen}
