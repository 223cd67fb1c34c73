import torch
import torch.nn as nn


class StableAttention(nn.Module):
    def __init__(self, dim_model, n_heads, clip=10.0):
        super().__init__()
        assert dim_model % n_heads == 0
        self.n_heads, self.clip = n_heads, clip
        self.qkv = nn.Linear(dim_model, 3 * dim_model, bias=False)
        self.proj = nn.Linear(dim_model, dim_model)

    def forward(self, x):
        B, N, D = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.n_heads, -1).permute(2, 0, 3, 1, 4)
        logits = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
        logits = torch.clamp(logits, min=-self.clip, max=self.clip)   # got nan without
        return self.proj((logits.softmax(dim=-1) @ v).transpose(1, 2).reshape(B, N, D))
