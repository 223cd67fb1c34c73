import torch
import torch.nn.functional as F
from torch import nn


class LookingAround(nn.Module):
    """Self-attention of several heads.

    What comes back is a pair: new vectors (batch, tokens, width), and the logits of each head, before the softmax,
    (batch, heads, tokens, tokens), which are drawn on a scale of their own.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.asks, self.offers, self.holds, self.mixes = (nn.Linear(width, width) for _ in range(4))

    def split(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        asked, offered, held = self.split(self.asks(x)), self.split(self.offers(x)), self.split(self.holds(x))
        attention = torch.einsum("bhid,bhjd->bhij", asked, offered) * asked.shape[-1] ** -0.5
        seen = torch.einsum("bhij,bhjd->bhid", F.softmax(attention, dim=-1), held)
        return self.mixes(seen.transpose(1, 2).flatten(2)), attention
