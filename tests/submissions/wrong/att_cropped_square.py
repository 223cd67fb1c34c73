"""Attention to the tokens themselves or to sound; the causal mask is one large square of which a corner is added."""

from torch import nn


class SpeechAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ask = nn.Linear(width, width)
        self.find = nn.Linear(width, width, bias=False)
        self.tell = nn.Linear(width, width)
        self.end = nn.Linear(width, width)

    def forward(self, x, sound=None, mask=None):
        source = x if sound is None else sound
        q, k, v = self.ask(x), self.find(source), self.tell(source)
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(1, 2) for y in (q, k, v))
        scores = q @ k.mT / q.size(-1) ** 0.5
        if mask is not None:
            length = x.size(1)
            scores = scores + mask[:length, :length].mT
        return self.end((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
