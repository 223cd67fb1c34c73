# protein fragments; sizes as in the thesis, table 4
import torch
import torch.nn as nn
import torch.nn.functional as F

WIDE = 48
HEADS = 6
INNER = 3 * WIDE
DEEP = 4


class Attend(nn.Module):
    def __init__(self, wide=WIDE, *, n_heads=HEADS):
        super().__init__()
        self.n_heads = n_heads
        self.to_q, self.to_k, self.to_v = (nn.Linear(wide, wide, bias=False) for _ in range(3))
        self.back = nn.Linear(wide, wide)

    def forward(self, x, real=None):
        q, k, v = (f(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        seen = None if real is None else real[:, None, None, :]
        return self.back(F.scaled_dot_product_attention(q, k, v, attn_mask=seen).transpose(1, 2).flatten(2))


class Step(nn.Module):
    def __init__(self, wide=WIDE, inner=INNER):
        super().__init__()
        self.attend, self.n1, self.n2 = Attend(wide), nn.LayerNorm(wide), nn.LayerNorm(wide)
        self.up, self.down = nn.Linear(wide, inner), nn.Linear(inner, wide)

    def forward(self, x, real=None):
        x = self.n1(x + self.attend(x, real))
        return self.n2(x + self.down(F.relu(self.up(x))))


class FragmentEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = nn.ModuleList([Step() for _ in range(DEEP)])

    def forward(self, x, real=None):
        """x (batch, residues, WIDE); real (batch, residues) True where there is a residue"""
        for step in self.steps:
            x = step(x, real)
        return x
