import torch
import torch.nn as nn

# U-shaped transformer for our segmentation-as-sequence project: encoder and decoder of equal depth


class Pair(nn.Module):
    def __init__(self, c, heads, ffn_dim, depth):
        super().__init__()
        opts = dict(d_model=c, nhead=heads, dim_feedforward=ffn_dim, dropout=0.0, batch_first=True)
        self.down = nn.ModuleList(nn.TransformerEncoderLayer(**opts) for _ in range(depth))
        self.up = nn.ModuleList(nn.TransformerDecoderLayer(**opts) for _ in range(depth))

    def encode(self, src, src_pad):
        states = []
        for block in self.down:
            src = block(src, src_key_padding_mask=src_pad)
            states.append(src)
        return states

    def forward(self, src, tgt, src_pad=None, tgt_pad=None):
        n = tgt.size(1)
        causal = torch.ones(n, n, device=tgt.device).triu(1).bool()
        for block, memory in zip(self.up, self.encode(src, src_pad)):
            tgt = block(tgt, memory, causal, None, tgt_pad, src_pad)
        return tgt
