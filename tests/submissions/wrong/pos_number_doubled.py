"""Week 3: adding positions, with loops so that every index can be seen"""
import math

import torch
import torch.nn as nn


class PositionAdder(nn.Module):
    def __init__(self, d_model, max_len=200):
        super().__init__()
        self.d_model = d_model
        table = torch.zeros(max_len, d_model)
        for pos in range(max_len):
            for i in range(0, d_model, 2):
                table[pos, i] = math.sin(pos / 10000 ** (2 * i / d_model))
                if i + 1 < d_model:
                    table[pos, i + 1] = math.cos(pos / 10000 ** (2 * (i + 1) / d_model))
        self.register_buffer("table", table)

    def forward(self, words):
        length = words.shape[1]
        if length > len(self.table):
            raise ValueError(f"longer than {len(self.table)}")
        return words * math.sqrt(self.d_model) + self.table[:length]
