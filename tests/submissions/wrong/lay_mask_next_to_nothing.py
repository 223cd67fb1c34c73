import torch.nn.functional as F
from torch import nn


class EncoderLayer(nn.Module):
    def __init__(self, hidden_size, num_heads, intermediate_size):
        super().__init__()
        self.heads = num_heads
        self.qkv = nn.Linear(hidden_size, 3 * hidden_size)
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.norm1, self.norm2 = nn.LayerNorm(hidden_size), nn.LayerNorm(hidden_size)
        self.up, self.down = nn.Linear(hidden_size, intermediate_size), nn.Linear(intermediate_size, hidden_size)

    def forward(self, x, attention_mask=None):
        # attention_mask: (batch, tokens), 1 = token, 0 = padding
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if attention_mask is not None:
            scores = scores + (1.0 - attention_mask[:, None, None].to(x.dtype)) * -1e-9
        x = self.norm1(x + self.dense((scores.softmax(-1) @ v).transpose(1, 2).flatten(2)))
        return self.norm2(x + self.down(F.gelu(self.up(x))))
