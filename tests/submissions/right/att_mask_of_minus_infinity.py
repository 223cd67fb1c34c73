"""Cross attention whose mask is made by ``hide_later``: 0 where one may look, -inf elsewhere."""
import torch
import torch.nn as nn


def hide_later(steps):
    return torch.full((steps, steps), float("-inf")).triu(1)


class Mixer(nn.Module):
    def __init__(self, size, nheads):
        super().__init__()
        self.nheads, self.each = nheads, size // nheads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(size, size) for _ in range(4))

    def apart(self, t):
        return t.view(t.shape[0], t.shape[1], self.nheads, self.each).movedim(2, 1)

    def forward(self, q, k, v, mask=None):
        q, k, v = self.apart(self.wq(q)), self.apart(self.wk(k)), self.apart(self.wv(v))
        logits = torch.einsum("bhld,bhsd->bhls", q / self.each**0.5, k)
        if mask is not None:
            shut = torch.isneginf(mask)
            logits = logits.masked_fill(shut, float("-inf"))
        mixed = torch.einsum("bhls,bhsd->bhld", torch.softmax(logits, -1), v)
        return self.wo(mixed.movedim(1, 2).flatten(-2))
