import torch
import torch.nn as nn


class CollateAttention(nn.Module):
    """src_mask: (batch, len) bool, True at padding"""

    def __init__(self, model_size: int, attention_heads: int):
        super().__init__()
        assert model_size % attention_heads == 0
        self.a = attention_heads
        self.query_layer = nn.Linear(model_size, model_size)
        self.key_layer = nn.Linear(model_size, model_size)
        self.value_layer = nn.Linear(model_size, model_size)
        self.out_layer = nn.Linear(model_size, model_size)

    def forward(self, src, src_mask=None):
        n, length, size = src.shape
        outputs = []
        for sample in src:
            q = self.query_layer(sample).view(length, self.a, -1).transpose(0, 1)
            k = self.key_layer(sample).view(length, self.a, -1).transpose(0, 1)
            v = self.value_layer(sample).view(length, self.a, -1).transpose(0, 1)
            e = q @ k.transpose(1, 2) / (size // self.a) ** 0.5
            if src_mask is not None:
                e = e.masked_fill(src_mask[0], float("-inf"))
            outputs.append((e.softmax(-1) @ v).transpose(0, 1).reshape(length, size))
        return self.out_layer(torch.stack(outputs))
