import torch
import torch.nn as nn

# first version was for one sentence (words, features); now with a batch in front


class SelfAttention(nn.Module):
    def __init__(self, in_dim, out_dim):
        super().__init__()
        self.to_q = nn.Linear(in_dim, out_dim, bias=False)
        self.to_k = nn.Linear(in_dim, out_dim, bias=False)
        self.to_v = nn.Linear(in_dim, out_dim, bias=False)

    def forward(self, x):
        Q = self.to_q(x)
        K = self.to_k(x)
        V = self.to_v(x)
        dk = K.shape[1]
        return torch.softmax(Q @ K.transpose(-1, -2) / dk ** 0.5, dim=-1) @ V
