import torch
from torch import nn


class MaskedAttention(nn.Module):
    """attention_mask: (batch, length, length), True where a query may look; padding_mask: (batch, length), True for tokens"""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(width, 3 * width)
        self.to_out = nn.Linear(width, width)

    def joined_mask(self, padding_mask, attention_mask):
        mask = None
        if padding_mask is not None:
            batch, length = padding_mask.shape
            mask = padding_mask.view(batch, 1, length)
        if attention_mask is not None:
            mask = attention_mask if mask is None else mask & attention_mask
        return mask

    def forward(self, x, padding_mask=None, attention_mask=None):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.to_qkv(x).chunk(3, -1))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        mask = self.joined_mask(padding_mask, attention_mask)
        if mask is not None:
            while mask.ndim < scores.ndim:
                mask = mask.unsqueeze(-mask.ndim)
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        return self.to_out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
