import torch
from torch import nn


def every_two(x, sin, cos):
    """GPT-J turns neighbouring features, (0, 1), (2, 3), …; here all of them."""
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-1).flatten(-2)


class GPTJBlock(nn.Module):
    """ln_1 feeds both the attention and the MLP; their outputs are added to the residual together."""

    def __init__(self, n_embd, n_head, n_inner):
        super().__init__()
        self.n_head = n_head
        self.ln_1 = nn.LayerNorm(n_embd, eps=1e-5)
        self.q_proj = nn.Linear(n_embd, n_embd, bias=False)
        self.k_proj = nn.Linear(n_embd, n_embd, bias=False)
        self.v_proj = nn.Linear(n_embd, n_embd, bias=False)
        self.out_proj = nn.Linear(n_embd, n_embd, bias=False)
        self.fc_in = nn.Linear(n_embd, n_inner)
        self.fc_out = nn.Linear(n_inner, n_embd)
        self.act = nn.GELU(approximate="tanh")

    def _attn(self, x):
        b, t, c = x.size()
        split = lambda y: y.view(b, t, self.n_head, c // self.n_head).transpose(1, 2)
        q, k, v = split(self.q_proj(x)), split(self.k_proj(x)), split(self.v_proj(x))
        d = c // self.n_head
        inv_freq = 1.0 / 10000 ** (torch.arange(0, d, 2, device=x.device, dtype=x.dtype) / d)
        sinusoid = torch.arange(t, device=x.device, dtype=x.dtype)[:, None] * inv_freq[None]
        q, k = (every_two(y, sinusoid.sin(), sinusoid.cos()) for y in (q, k))
        w = q @ k.transpose(-1, -2) / d**0.5
        w = w + torch.full((t, t), float("-inf"), device=x.device, dtype=x.dtype).triu(1)
        return self.out_proj((w.softmax(-1) @ v).transpose(1, 2).contiguous().view(b, t, c))

    def forward(self, hidden):
        residual = hidden
        hidden = self.ln_1(hidden)
        return self._attn(hidden) + self.fc_out(self.act(self.fc_in(hidden))) + residual
