"""A small GPT: ids in, logits out. The table is tied to the head; in generation only the last logits are needed."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Settings:
    vocab: int = 128
    context: int = 64
    n_embd: int = 48
    n_head: int = 4
    n_layer: int = 3
    p_drop: float = 0.0


class Heads(nn.Module):
    def __init__(self, s: Settings):
        super().__init__()
        self.s = s
        self.c_attn = nn.Linear(s.n_embd, 3 * s.n_embd)
        self.c_proj = nn.Linear(s.n_embd, s.n_embd)

    def forward(self, x):
        batch, time, width = x.shape
        q, k, v = (t.view(batch, time, self.s.n_head, -1).transpose(1, 2) for t in self.c_attn(x).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.s.p_drop * self.training, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(batch, time, width))


class Layer(nn.Module):
    def __init__(self, s: Settings):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(s.n_embd), nn.LayerNorm(s.n_embd)
        self.attn = Heads(s)
        self.mlp = nn.Sequential(nn.Linear(s.n_embd, 4 * s.n_embd), nn.GELU(approximate="tanh"),
                                 nn.Linear(4 * s.n_embd, s.n_embd), nn.Dropout(s.p_drop))
        self.drop = nn.Dropout(s.p_drop)

    def forward(self, x):
        x = x + self.drop(self.attn(self.ln_1(x)))
        return x + self.mlp(self.ln_2(x))


class SmallGPT(nn.Module):
    def __init__(self, s: Settings):
        super().__init__()
        self.wte = nn.Embedding(s.vocab, s.n_embd)
        self.wpe = nn.Embedding(s.context, s.n_embd)
        self.drop = nn.Dropout(s.p_drop)
        self.h = nn.ModuleList(Layer(s) for _ in range(s.n_layer))
        self.ln_f = nn.LayerNorm(s.n_embd)
        self.lm_head = nn.Linear(s.n_embd, s.vocab, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, idx, targets=None):
        _, time = idx.shape
        x = self.drop(self.wte(idx) + self.wpe(torch.arange(time, device=idx.device)))
        for layer in self.h:
            x = layer(x)
        x = self.ln_f(x)
        if targets is None:
            return self.lm_head(x[:, -1:]), None
        logits = self.lm_head(x)
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())
