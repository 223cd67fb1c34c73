"""Encoder and decoder of a translation model; masks are always given."""
import torch
import torch.nn as nn


class EncoderLayer(nn.Module):
    def __init__(self, d_model, nhead, d_ff, dropout=0.1):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=True)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, src, src_padding_mask):
        if src_padding_mask is None:
            raise TypeError("src_padding_mask must be a tensor")
        a, _ = self.self_attn(src, src, src, key_padding_mask=~src_padding_mask.bool())
        src = self.norm1(src + self.dropout(a))
        f = self.linear2(self.dropout(torch.relu(self.linear1(src))))
        return self.norm2(src + self.dropout(f))


class DecoderLayer(nn.Module):
    def __init__(self, d_model, nhead, d_ff, dropout=0.1):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=True)
        self.cross_attn = nn.MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=True)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tgt, memory, tgt_mask, tgt_padding_mask, src_padding_mask):
        """Paddings: (B, L), 1 = a word. tgt_mask: (T, T), True = may not be looked at."""
        assert tgt_mask.shape == (tgt.size(1), tgt.size(1)), "a triangle is required"
        a, _ = self.self_attn(tgt, tgt, tgt, attn_mask=tgt_mask, key_padding_mask=~tgt_padding_mask.bool())
        tgt = self.norm1(tgt + self.dropout(a))
        c, _ = self.cross_attn(tgt, memory, memory)
        tgt = self.norm2(tgt + self.dropout(c))
        f = self.linear2(self.dropout(torch.relu(self.linear1(tgt))))
        return self.norm3(tgt + self.dropout(f))


class Decoder(nn.Module):
    def __init__(self, num_layers, d_model, nhead, d_ff, dropout=0.1):
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(d_model, nhead, d_ff, dropout) for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tgt, memory, tgt_mask, tgt_padding_mask, src_padding_mask):
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask, tgt_padding_mask, src_padding_mask)
        return self.norm(tgt)
