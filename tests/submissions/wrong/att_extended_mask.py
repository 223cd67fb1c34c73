import math
import torch
from torch import nn


class EncoderSelfAttention(nn.Module):
    def __init__(self, config: dict):
        super().__init__()
        self.heads = config["num_attention_heads"]
        self.size = config["hidden_size"]
        if self.size % self.heads:
            raise ValueError("hidden_size / num_attention_heads")
        self.query = nn.Linear(self.size, self.size)
        self.key = nn.Linear(self.size, self.size)
        self.value = nn.Linear(self.size, self.size)
        self.output = nn.Linear(self.size, self.size)

    def split(self, x):
        return x.view(*x.shape[:2], self.heads, self.size // self.heads).permute(0, 2, 1, 3)

    def forward(self, hidden, attention_mask=None):
        # attention_mask: (batch, length), 1 for tokens, 0 for padding
        q, k, v = self.split(self.query(hidden)), self.split(self.key(hidden)), self.split(self.value(hidden))
        s = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
        if attention_mask is not None:
            extended = attention_mask[:, None, None, :].to(s.dtype)
            extended = (1.0 - extended) * -100.0
            s = s + extended
        c = torch.softmax(s, dim=-1) @ v
        return self.output(c.permute(0, 2, 1, 3).reshape(hidden.shape))
