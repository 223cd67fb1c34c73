import torch.nn as nn


class TgtLayer(nn.Module):
    """post-norm, sequences first: (T, B, E); a tgt_mask of True hides"""

    def __init__(self, emb, nhead, ffn):
        super().__init__()
        self.attn1 = nn.MultiheadAttention(emb, nhead)
        self.attn2 = nn.MultiheadAttention(emb, nhead)
        self.fc1, self.fc2, self.act = nn.Linear(emb, ffn), nn.Linear(ffn, emb), nn.ReLU()
        self.n1, self.n2, self.n3 = nn.LayerNorm(emb), nn.LayerNorm(emb), nn.LayerNorm(emb)

    def forward(self, tgt, memory, tgt_mask=None):
        x = self.n1(tgt + self.attn1(tgt, tgt, tgt, attn_mask=tgt_mask)[0])
        x = self.n2(tgt + self.attn2(x, memory, memory)[0])
        return self.n3(x + self.fc2(self.act(self.fc1(x))))
