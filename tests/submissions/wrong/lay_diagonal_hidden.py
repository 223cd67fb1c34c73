import torch
import torch.nn as nn

torch.manual_seed(0)


class DecoderLayer(nn.Module):
    # params: width, number of heads, inner width. Works on (time, batch, width)!
    def __init__(self, width, nheads, inner):
        super().__init__()
        self.masked_mha = nn.MultiheadAttention(width, nheads)
        self.mha = nn.MultiheadAttention(width, nheads)
        self.ffn = nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))
        self.ln1 = nn.LayerNorm(width)
        self.ln2 = nn.LayerNorm(width)
        self.ln3 = nn.LayerNorm(width)

    @staticmethod
    def look_ahead_mask(n):
        m = torch.full((n, n), -1e9)
        return torch.triu(m, diagonal=0)

    def forward(self, y, memory):
        m = self.look_ahead_mask(y.size(0)).to(y)
        y = self.ln1(y + self.masked_mha(y, y, y, attn_mask=m)[0])
        y = self.ln2(y + self.mha(y, memory, memory)[0])
        return self.ln3(y + self.ffn(y))
