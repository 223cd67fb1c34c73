"""Cross-attention of a summarizer: what it makes of an article is made once."""

import torch
from torch import nn


class ArticleAttention(nn.Module):
    """With ``writing=True`` the article's keys and values stay here until a different article's memory is passed."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.width = n_heads, d_model // n_heads
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(d_model, d_model) for _ in range(4))
        self.article, self.made = None, None

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, self.width)).transpose(-3, -2)

    def of_article(self, memory):
        return self.split(self.to_k(memory)), self.split(self.to_v(memory))

    def forward(self, x, memory, writing=False):
        if not writing:
            k, v = self.of_article(memory)
        else:
            if self.article is not memory:
                self.article, self.made = memory, self.of_article(memory)
            k, v = self.made
        scores = self.split(self.to_q(x)) @ k.mT / self.width**0.5
        mixed = torch.softmax(scores, dim=-1) @ v
        return self.to_out(mixed.transpose(-3, -2).flatten(-2))
