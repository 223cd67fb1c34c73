"""Translation model of the seminar. Sources come with their lengths; the labels are shifted here, not by the caller."""

import torch
from torch import nn

BOS, PAD = 1, 0


def is_real(lengths, longest):
    return torch.arange(longest, device=lengths.device) < lengths[:, None]


class Translator(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, d_model=64, nhead=8, n_enc=3, n_dec=3, d_ff=256, max_len=300, dropout=0.1):
        super().__init__()
        self.source_rows = nn.Embedding(src_vocab, d_model, padding_idx=PAD)
        self.target_rows = nn.Embedding(tgt_vocab, d_model, padding_idx=PAD)
        self.places = nn.Embedding(max_len, d_model)
        self.drop = nn.Dropout(dropout)
        sizes = {"dim_feedforward": d_ff, "dropout": dropout, "batch_first": True}
        self.encoder = nn.ModuleList(nn.TransformerEncoderLayer(d_model, nhead, **sizes) for _ in range(n_enc))
        self.decoder = nn.ModuleList(nn.TransformerDecoderLayer(d_model, nhead, **sizes) for _ in range(n_dec))
        self.to_words = nn.Linear(d_model, tgt_vocab)

    def embed(self, ids, rows):
        return self.drop(rows(ids) + self.places(torch.arange(ids.shape[1], device=ids.device)))

    def forward(self, src, src_len, labels):
        hidden = ~is_real(src_len, src.shape[1])
        memory = self.embed(src, self.source_rows)
        for layer in self.encoder:
            memory = layer(memory, src_key_padding_mask=hidden)
        before = torch.cat([torch.full_like(labels[:, :1], BOS), labels[:, :-1]], dim=1)
        later = torch.ones(before.shape[1], before.shape[1], dtype=torch.bool, device=src.device).triu(1)
        y = self.embed(before, self.target_rows)
        for layer in self.decoder:
            y = layer(y, memory, tgt_mask=later)
        return self.to_words(y)
