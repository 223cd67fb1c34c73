import math

import torch
from torch import nn


def places(length, width):
    half = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(10000.0) / width))
    angles = torch.arange(length, dtype=torch.float64)[:, None] * half
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)[:, :width]


class Seq2Seq(nn.Module):
    """Question and answer as ids (batch, length), padded with 0; scores of all answer ids come back."""

    def __init__(self, vocab_size, d_model, nhead, num_layers, d_ff):
        super().__init__()
        self.question = nn.Embedding(vocab_size, d_model)
        self.answer = nn.Embedding(vocab_size, d_model)
        self.register_buffer("places", places(200, d_model))
        self.body = nn.Transformer(
            d_model, nhead, num_layers, num_layers, d_ff, dropout=0.0, norm_first=True, batch_first=True
        )
        self.score = nn.Linear(d_model, vocab_size, bias=False)

    def place(self, table, ids):
        rows = table(ids) * math.sqrt(table.embedding_dim)
        return rows + self.places[: ids.shape[1]].to(rows)

    def forward(self, src, tgt):
        hidden = src == 0
        later = torch.ones(tgt.shape[1], tgt.shape[1], dtype=torch.bool, device=tgt.device).triu(1)
        out = self.body(
            self.place(self.question, src), self.place(self.answer, tgt), tgt_mask=later,
            src_key_padding_mask=hidden, memory_key_padding_mask=hidden,
        )  # fmt: skip
        return self.score(out)
