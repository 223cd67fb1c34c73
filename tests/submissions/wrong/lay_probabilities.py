import math
import torch
import torch.nn as nn


class Embeddings(nn.Module):
    def __init__(self, vocab, d_model, max_len=300):
        super().__init__()
        self.lut = nn.Embedding(vocab, d_model)
        self.d_model = d_model
        position = torch.arange(max_len).unsqueeze(1)
        div_term = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
        pe = torch.zeros(max_len, d_model)
        pe[:, 0::2], pe[:, 1::2] = torch.sin(position * div_term), torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, ids):
        return self.lut(ids) * math.sqrt(self.d_model) + self.pe[: ids.size(1)]


class TranslationModel(nn.Module):
    def __init__(self, vocab_size, d_model=128, n_heads=8, n_layers=2, d_ff=256, dropout=0.1):
        super().__init__()
        self.src = Embeddings(vocab_size, d_model)
        self.tgt = Embeddings(vocab_size, d_model)
        self.core = nn.Transformer(d_model, n_heads, n_layers, n_layers, d_ff, dropout, batch_first=True, norm_first=True)
        self.fc_out = nn.Linear(d_model, vocab_size, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, src_ids, tgt_ids, src_padding=None):
        causal = self.core.generate_square_subsequent_mask(tgt_ids.size(1)).to(self.fc_out.weight)
        h = self.core(
            self.src(src_ids), self.tgt(tgt_ids), tgt_mask=causal,
            src_key_padding_mask=src_padding, memory_key_padding_mask=src_padding,
        )
        return self.softmax(self.fc_out(h))
