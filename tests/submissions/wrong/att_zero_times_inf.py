import torch
import torch.nn as nn


class PaddedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads = num_heads
        self.depth = d_model // num_heads
        self.wq, self.wk, self.wv, self.dense = [nn.Linear(d_model, d_model) for _ in range(4)]

    def split_heads(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.num_heads, self.depth).permute(0, 2, 1, 3)

    def forward(self, v, k, q, mask=None):
        # mask: 1 = hidden, broadcastable to (batch, heads, Lq, Lk)
        q, k, v = self.split_heads(self.wq(q)), self.split_heads(self.wk(k)), self.split_heads(self.wv(v))
        logits = q @ k.transpose(-1, -2) / self.depth ** 0.5
        if mask is not None:
            logits = logits + mask * float("-inf")
        w = logits.softmax(dim=-1)
        out = (w @ v).permute(0, 2, 1, 3).reshape(q.shape[0], -1, self.num_heads * self.depth)
        return self.dense(out), w
