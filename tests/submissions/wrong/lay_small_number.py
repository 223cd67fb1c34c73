import torch
import torch.nn as nn
import math


class EncoderLayer(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward, layer_norm_eps=1e-5):
        super().__init__()
        self.nhead = nhead
        self.in_q = nn.Linear(d_model, d_model)
        self.in_k = nn.Linear(d_model, d_model)
        self.in_v = nn.Linear(d_model, d_model)
        self.out = nn.Linear(d_model, d_model)
        self.linear1 = nn.Linear(d_model, dim_feedforward)
        self.linear2 = nn.Linear(dim_feedforward, d_model)
        self.norm1 = nn.LayerNorm(d_model, eps=layer_norm_eps)
        self.norm2 = nn.LayerNorm(d_model, eps=layer_norm_eps)

    def forward(self, src, src_mask=None):
        """src_mask: [batch, 1, len] or [batch, len, len]; zeros are masked"""
        B, L, E = src.size()
        H = self.nhead
        q = self.in_q(src).view(B, L, H, E // H).permute(0, 2, 1, 3)
        k = self.in_k(src).view(B, L, H, E // H).permute(0, 2, 3, 1)
        v = self.in_v(src).view(B, L, H, E // H).permute(0, 2, 1, 3)
        score = torch.matmul(q, k) / math.sqrt(E // H)
        if src_mask is not None:
            score = score.masked_fill(src_mask.unsqueeze(1) == 0, 1e-9)
        context = torch.matmul(torch.softmax(score, dim=-1), v)
        src = self.norm1(src + self.out(context.permute(0, 2, 1, 3).reshape(B, L, E)))
        return self.norm2(src + self.linear2(torch.relu(self.linear1(src))))
