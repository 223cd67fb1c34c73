"""One block of the reader: it looks back over what it has written, then at the page, then thinks. Norms come first."""

import torch
from torch import nn
from torch.nn import functional as F


class Glance(nn.Module):
    """Attention of some rows to others, with four square matrices."""

    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.ask, self.offer, self.tell, self.join = (nn.Linear(size, size) for _ in range(4))

    def forward(self, rows, others, visible=None):
        def parted(x):
            return x.unflatten(2, (self.heads, -1)).movedim(2, 1)

        seen = F.scaled_dot_product_attention(
            parted(self.ask(rows)), parted(self.offer(others)), parted(self.tell(others)), attn_mask=visible
        )
        return self.join(seen.movedim(1, 2).flatten(2))


class ReaderBlock(nn.Module):
    def __init__(self, size, heads, inner):
        super().__init__()
        self.before_self, self.before_page, self.before_mlp = (nn.LayerNorm(size) for _ in range(3))
        self.self_glance = Glance(size, heads)
        self.page_glance = Glance(size, heads)
        self.mlp = nn.Sequential(nn.Linear(size, inner), nn.ReLU(), nn.Linear(inner, size))

    def forward(self, written, page):
        back = torch.ones(written.shape[1], written.shape[1], dtype=torch.bool).tril()
        calm = self.before_self(written)
        written = written + self.self_glance(calm, calm, back)
        written = self.before_page(written)
        written = written + self.page_glance(written, page)
        return written + self.mlp(self.before_mlp(written))
