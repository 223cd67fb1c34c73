from math import sqrt

from torch import Tensor, nn, where


class EncoderAttention(nn.Module):
    """Self-attention; ``attention_mask`` (batch, 1, 1, tokens) has 0 at tokens, and -10000 at padding."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(hidden, hidden) for _ in range(4))

    def forward(self, states: Tensor, attention_mask: Tensor) -> Tensor:
        q, k, v = (p(states).unflatten(2, (self.heads, -1)).transpose(1, 2) for p in (self.q, self.k, self.v))
        scores = q @ k.mT / sqrt(q.shape[-1])
        scores = where(attention_mask == 0, scores, attention_mask)
        return self.o((scores.softmax(3) @ v).transpose(1, 2).flatten(2))
