import torch
import torch.nn as nn


class MHA(nn.Module):
    def __init__(self, model_dim, nb_heads):
        super().__init__()
        self.nb_heads = nb_heads
        self.head_dim = model_dim // nb_heads
        inner = self.head_dim * nb_heads
        self.Q = nn.Linear(model_dim, inner)
        self.K = nn.Linear(model_dim, inner)
        self.V = nn.Linear(model_dim, inner)
        self.O = nn.Linear(inner, model_dim)

    def forward(self, x, y):
        def heads(t):
            return t.view(t.shape[0], t.shape[1], self.nb_heads, self.head_dim).transpose(1, 2)

        q, k, v = heads(self.Q(x)), heads(self.K(y)), heads(self.V(y))
        a = torch.softmax(q @ k.transpose(2, 3) / self.head_dim ** 0.5, dim=-1)
        return self.O((a @ v).transpose(1, 2).flatten(2))
