import torch
import torch.nn as nn
import torch.nn.functional as F


class MaskedMultiHead(nn.Module):
    def __init__(self, n_embed, n_heads, max_len, device):
        super().__init__()
        self.hs = n_embed // n_heads
        assert self.hs * n_heads == n_embed
        self.n_heads = n_heads
        self.key = nn.Linear(n_embed, n_embed, device=device)
        self.query = nn.Linear(n_embed, n_embed, device=device)
        self.value = nn.Linear(n_embed, n_embed, device=device)
        self.proj = nn.Linear(n_embed, n_embed, device=device)
        self.register_buffer('future', torch.ones(max_len, max_len, device=device).triu(1).bool())

    def forward(self, x):
        B, T, C = x.shape
        if T > self.future.size(0):
            raise ValueError(f'sequence of {T} tokens, at most {self.future.size(0)} allowed')
        k = self.key(x).view(B, T, self.n_heads, self.hs)
        q = self.query(x).view(B, T, self.n_heads, self.hs)
        v = self.value(x).view(B, T, self.n_heads, self.hs)
        wei = torch.einsum('bthc,bshc->btsh', q, k) * self.hs ** -0.5
        wei = wei.masked_fill(self.future[:T, :T, None], float('-inf'))
        wei = F.softmax(wei, dim=2)
        out = torch.einsum('btsh,bshc->bthc', wei, v)
        return self.proj(out.reshape(B, T, C))
