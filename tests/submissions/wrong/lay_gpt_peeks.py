import torch
import torch.nn as nn


class GPT2Block(nn.Module):
    def __init__(self, n_ctx, nx, n_head, resid_pdrop=0.1):
        super().__init__()
        self.attn = nn.MultiheadAttention(nx, n_head, batch_first=True)
        self.ln_1 = nn.LayerNorm(nx, eps=1e-5)
        self.ln_2 = nn.LayerNorm(nx, eps=1e-5)
        self.mlp = nn.Sequential(nn.Linear(nx, 4 * nx), nn.GELU("tanh"), nn.Linear(4 * nx, nx), nn.Dropout(resid_pdrop))
        self.drop = nn.Dropout(resid_pdrop)
        hidden = torch.triu(torch.ones(n_ctx, n_ctx, dtype=torch.bool), diagonal=2)
        self.register_buffer("hidden", hidden, persistent=False)

    def forward(self, x):
        T = x.size(1)
        h = self.ln_1(x)
        a, _ = self.attn(h, h, h, attn_mask=self.hidden[:T, :T], need_weights=False)
        x = x + self.drop(a)
        return x + self.mlp(self.ln_2(x))
