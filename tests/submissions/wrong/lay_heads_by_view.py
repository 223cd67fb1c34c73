import torch as th
import torch.nn as nn


class Head_s(nn.Module):
    """All heads at once."""
    def __init__(self, latent_dim, num_head):
        super().__init__()
        self.num_head, self.d = num_head, latent_dim // num_head
        self.W = nn.ParameterDict({n: nn.Parameter(th.randn(latent_dim, latent_dim) / latent_dim ** 0.5) for n in "qkvo"})

    def forward(self, z):
        n, seq, dim = z.shape
        q, k, v = ((z @ self.W[name]).view(n, self.num_head, seq, self.d) for name in "qkv")
        att = th.softmax(q @ k.transpose(-1, -2) / self.d ** 0.5, -1)
        return (att @ v).view(n, seq, dim) @ self.W["o"]


class LatentLayer(nn.Module):
    def __init__(self, latent_dim, ff_size, num_head, dropout=0.1):
        super().__init__()
        self.att = Head_s(latent_dim, num_head)
        self.up, self.down = nn.Linear(latent_dim, ff_size), nn.Linear(ff_size, latent_dim)
        self.ln = nn.ModuleList([nn.LayerNorm(latent_dim), nn.LayerNorm(latent_dim)])
        self.dropout = nn.Dropout(dropout)

    def forward(self, z):
        z = self.ln[0](z + self.dropout(self.att(z)))
        return self.ln[1](z + self.dropout(self.down(th.nn.functional.gelu(self.up(z)))))
