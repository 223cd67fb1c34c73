import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, n_embd, n_head, *, use_flash=True):
        super().__init__()
        self.n_head = n_head
        self.use_flash = use_flash
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)

    def forward(self, x, layer_past=None, extra=None, return_kv=False, verbose=False):  # extra is ignored
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        q, k, v = (z.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for z in (q, k, v))
        if layer_past is not None:
            k, v = torch.cat((layer_past[0], k), dim=2), torch.cat((layer_past[1], v), dim=2)
        if verbose:
            print("q", q.shape, "k", k.shape)
        if self.use_flash:
            y = F.scaled_dot_product_attention(q, k, v)
        else:
            y = (q @ k.transpose(-2, -1) * q.size(-1) ** -0.5).softmax(-1) @ v
        y = self.c_proj(y.transpose(1, 2).reshape(B, T, C))
        return (y, (k, v)) if return_kv else y
