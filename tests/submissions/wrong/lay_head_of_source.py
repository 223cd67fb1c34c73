import copy
import math
import torch
import torch.nn as nn


def get_clones(module, N):
    return nn.ModuleList([copy.deepcopy(module) for i in range(N)])


class PositionalEncoder(nn.Module):
    def __init__(self, d_model, max_seq_len=200):
        super().__init__()
        self.d_model = d_model
        pe = torch.zeros(max_seq_len, d_model)
        for pos in range(max_seq_len):
            for i in range(0, d_model, 2):
                pe[pos, i] = math.sin(pos / (10000 ** (i / d_model)))
                pe[pos, i + 1] = math.cos(pos / (10000 ** (i / d_model)))
        self.register_buffer('pe', pe.unsqueeze(0))

    def forward(self, x):
        x = x * math.sqrt(self.d_model)
        return x + self.pe[:, :x.size(1)]


class Transformer(nn.Module):
    """src_vocab and trg_vocab are of the same size (joint BPE), but the tables are separate.
    The output layer is tied to the decoder's table."""

    def __init__(self, src_vocab, trg_vocab, d_model, N, heads, d_ff, dropout=0.0):
        super().__init__()
        self.src_embed, self.trg_embed = nn.Embedding(src_vocab, d_model), nn.Embedding(trg_vocab, d_model)
        self.pe = PositionalEncoder(d_model)
        self.encoder = get_clones(nn.TransformerEncoderLayer(d_model, heads, d_ff, dropout, 'gelu', batch_first=True), N)
        self.decoder = get_clones(nn.TransformerDecoderLayer(d_model, heads, d_ff, dropout, 'gelu', batch_first=True), N)
        self.out = nn.Linear(d_model, trg_vocab, bias=False)
        self.out.weight = self.src_embed.weight

    def forward(self, src, trg, src_mask=None, trg_mask=None):
        # src_mask: (B, S) True = padding; trg_mask: (T, T) True = hidden
        e = self.pe(self.src_embed(src))
        for layer in self.encoder:
            e = layer(e, src_key_padding_mask=src_mask)
        d = self.pe(self.trg_embed(trg))
        for layer in self.decoder:
            d = layer(d, e, tgt_mask=trg_mask, memory_key_padding_mask=src_mask)
        return self.out(d)
