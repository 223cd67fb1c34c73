import torch
from torch import nn

class Hyper:
    n_embd = 48
    n_head = 6
    block = 64
    drop = 0.0

class DecoderAttention(nn.Module):
    def __init__(self, hyper=Hyper):
        super().__init__()
        assert hyper.n_embd % hyper.n_head == 0
        self.nh = hyper.n_head
        self.inn = nn.Linear(hyper.n_embd, 3 * hyper.n_embd)
        self.out = nn.Linear(hyper.n_embd, hyper.n_embd)
        self.drop = nn.Dropout(hyper.drop)
        self.register_buffer("future", torch.triu(torch.ones(hyper.block, hyper.block, dtype=torch.bool), diagonal=2))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = [y.reshape(B, T, self.nh, C // self.nh).transpose(1, 2) for y in self.inn(x).chunk(3, dim=-1)]
        att = q @ k.transpose(-2, -1) * (C // self.nh) ** -0.5
        att = att.masked_fill(self.future[:T, :T], float("-inf"))
        return self.out((self.drop(att.softmax(-1)) @ v).transpose(1, 2).reshape(B, T, C))
