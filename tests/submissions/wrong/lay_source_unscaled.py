"""
Neural machine translation, thesis code (2nd version).
config keys: vocab_size, hidden_dim, n_heads, n_layers, pf_dim, dropout, max_length
"""
import numpy as np
import torch
from torch import nn


def position_table(rows, columns):
    table = np.zeros((rows, columns))
    for row in range(rows):
        for column in range(columns):
            angle = row / np.power(10000, 2 * (column // 2) / columns)
            table[row, column] = np.cos(angle) if column % 2 else np.sin(angle)
    return torch.from_numpy(table).float()


class Encoder(nn.Module):
    def __init__(self, config, positions):
        super().__init__()
        self.tokens = nn.Embedding(config["vocab_size"], config["hidden_dim"])
        self.register_buffer("positions", positions)
        self.layers = nn.ModuleList([
            nn.TransformerEncoderLayer(config["hidden_dim"], config["n_heads"], config["pf_dim"],
                                       config["dropout"], batch_first=True)
            for _ in range(config["n_layers"])
        ])

    def forward(self, src, src_pad):
        x = self.tokens(src) + self.positions[: src.shape[1]]
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=src_pad)
        return x


class Decoder(nn.Module):
    def __init__(self, config, positions):
        super().__init__()
        self.tokens = nn.Embedding(config["vocab_size"], config["hidden_dim"])
        self.scale = config["hidden_dim"] ** 0.5
        self.register_buffer("positions", positions)
        self.layers = nn.ModuleList([
            nn.TransformerDecoderLayer(config["hidden_dim"], config["n_heads"], config["pf_dim"],
                                       config["dropout"], batch_first=True)
            for _ in range(config["n_layers"])
        ])
        self.vocabulary = nn.Linear(config["hidden_dim"], config["vocab_size"], bias=False)

    def forward(self, trg, memory, src_pad):
        length = trg.shape[1]
        y = self.tokens(trg) * self.scale + self.positions[:length]
        mask = torch.ones(length, length, device=trg.device).triu(1).bool()
        for layer in self.layers:
            y = layer(y, memory, tgt_mask=mask, memory_key_padding_mask=src_pad)
        return self.vocabulary(y)


class Seq2Seq(nn.Module):
    def __init__(self, config):
        super().__init__()
        positions = position_table(config.get("max_length", 100), config["hidden_dim"])
        self.encoder, self.decoder = Encoder(config, positions), Decoder(config, positions)

    def forward(self, src, trg, src_pad=None):
        return self.decoder(trg, self.encoder(src, src_pad), src_pad)
