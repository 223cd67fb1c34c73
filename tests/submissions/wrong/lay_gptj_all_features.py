import torch
from torch import nn


def duplicated(angles):
    return angles.repeat_interleave(2, dim=-1)


class JLayer(nn.Module):
    """GPT-J's layer. rotary_dim: how many features of each head are rotated, in pairs of neighbours."""

    def __init__(self, n_embd, n_head, n_inner, rotary_dim=None, layer_norm_epsilon=1e-5):
        super().__init__()
        head = n_embd // n_head
        self.rotary_dim = head if rotary_dim is None else rotary_dim
        assert self.rotary_dim % 2 == 0 and 0 < self.rotary_dim <= head
        self.n_head = n_head
        self.ln_1 = nn.LayerNorm(n_embd, eps=layer_norm_epsilon)
        self.qkv = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.out = nn.Linear(n_embd, n_embd, bias=False)
        self.mlp = nn.Sequential(nn.Linear(n_embd, n_inner), nn.GELU(approximate="tanh"), nn.Linear(n_inner, n_embd))

    def rope(self, t):
        r = t.shape[-1]
        inv_freq = 1.0 / 10000 ** (torch.arange(0, r, 2, dtype=t.dtype, device=t.device) / r)
        angles = duplicated(torch.outer(torch.arange(t.shape[1], dtype=t.dtype, device=t.device), inv_freq))[:, None]
        turned, kept = t[..., :r], t[..., r:]
        other = torch.stack([-turned[..., 1::2], turned[..., ::2]], dim=-1).flatten(-2)
        return torch.cat([turned * angles.cos() + other * angles.sin(), kept], dim=-1)

    def attend(self, h):
        b, t, c = h.shape
        q, k, v = self.qkv(h).view(b, t, 3, self.n_head, c // self.n_head).unbind(2)
        scores = torch.einsum("bihd,bjhd->bhij", self.rope(q), self.rope(k)) / (c // self.n_head) ** 0.5
        later = torch.ones(t, t, dtype=torch.bool, device=h.device).triu(1)
        weights = scores.masked_fill(later, torch.finfo(scores.dtype).min).softmax(-1)
        return self.out(torch.einsum("bhij,bjhd->bihd", weights, v).reshape(b, t, c))

    def forward(self, x):
        h = self.ln_1(x)
        return x + self.attend(h) + self.mlp(h)
