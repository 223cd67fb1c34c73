import torch
import torch.nn as nn


class DecoderBlock(nn.Module):
    """
    Decoder block: masked self-attention, attention on the encoder's output, feed forward.

        x      (batch, trg_len, emb)
        enc    (batch, src_len, emb)
        trg_mask (trg_len, trg_len) True = hidden
    """

    def __init__(self, emb, heads, forward_expansion=4, dropout=0.0):
        super().__init__()
        self.attention = nn.MultiheadAttention(emb, heads, dropout=dropout, batch_first=True)
        self.cross = nn.MultiheadAttention(emb, heads, dropout=dropout, batch_first=True)
        self.feed_forward = nn.Sequential(
            nn.Linear(emb, forward_expansion * emb), nn.ReLU(), nn.Linear(forward_expansion * emb, emb)
        )
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(emb), nn.LayerNorm(emb), nn.LayerNorm(emb)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, enc, trg_mask=None):
        a = self.attention(x, x, x, attn_mask=trg_mask)[0]
        query = self.norm1(x + self.dropout(a))
        c = self.cross(query, query, query)[0]
        h = self.norm2(query + self.dropout(c))
        return self.norm3(h + self.dropout(self.feed_forward(h)))
