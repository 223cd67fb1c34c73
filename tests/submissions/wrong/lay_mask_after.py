import torch
import torch.nn as nn
import torch.nn.functional as F

class CausalBlock(nn.Module):
    def __init__(self, hidden_dim, n_heads, mlp_dim, max_T):
        super().__init__()
        self.n_heads = n_heads
        self.q_net = nn.Linear(hidden_dim, hidden_dim)
        self.k_net = nn.Linear(hidden_dim, hidden_dim)
        self.v_net = nn.Linear(hidden_dim, hidden_dim)
        self.proj_net = nn.Linear(hidden_dim, hidden_dim)
        self.mlp = nn.Sequential(nn.Linear(hidden_dim, mlp_dim), nn.GELU(), nn.Linear(mlp_dim, hidden_dim))
        self.ln1 = nn.LayerNorm(hidden_dim)
        self.ln2 = nn.LayerNorm(hidden_dim)
        ones = torch.ones((max_T, max_T))
        self.register_buffer('mask', torch.tril(ones).view(1, 1, max_T, max_T))

    def attention(self, x):
        B, T, C = x.shape
        N, D = self.n_heads, C // self.n_heads
        q = self.q_net(x).view(B, T, N, D).transpose(1, 2)
        k = self.k_net(x).view(B, T, N, D).transpose(1, 2)
        v = self.v_net(x).view(B, T, N, D).transpose(1, 2)
        weights = q @ k.transpose(2, 3) / D ** 0.5
        normalized_weights = F.softmax(weights, dim=-1) * self.mask[..., :T, :T]
        return self.proj_net((normalized_weights @ v).transpose(1, 2).contiguous().view(B, T, N * D))

    def forward(self, x):
        # decision-transformer order: normalise after the sum
        x = self.ln1(x + self.attention(x))
        x = self.ln2(x + self.mlp(x))
        return x
