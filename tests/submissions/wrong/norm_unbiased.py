import torch
from torch import nn


class LayerNormalization(nn.Module):
    def __init__(self, emb_dim, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.scale = nn.Parameter(torch.ones(emb_dim))
        self.shift = nn.Parameter(torch.zeros(emb_dim))

    def forward(self, x):
        if x.shape[-1] != self.scale.shape[0]:
            raise ValueError("emb_dim")
        t = x if x.dtype == torch.float64 else x.float()
        mean = t.mean(dim=-1, keepdim=True)
        var = t.var(dim=-1, keepdim=True)
        norm_x = (t - mean) / torch.sqrt(var + self.eps)
        return (self.scale * norm_x + self.shift).to(x.dtype)
