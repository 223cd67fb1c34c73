import torch.nn as nn, torch.nn.functional as F, torch

class Blk(nn.Module):
    def __init__(s, D, H, M):
        super().__init__()
        s.H = H
        s.qkv, s.o = nn.Linear(D, 3*D), nn.Linear(D, D)
        s.a, s.b = nn.Linear(D, M), nn.Linear(M, D)
        s.n, s.m = nn.LayerNorm(D), nn.LayerNorm(D)

    def att(s, x):
        B, L, D = x.shape
        q, k, v = s.qkv(x).view(B, L, 3, s.H, D // s.H).permute(2, 0, 3, 1, 4)
        return s.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, L, D))

    def forward(s, x):
        return s.m(s.b(F.relu(s.a(y := s.n(s.att(x))))))
