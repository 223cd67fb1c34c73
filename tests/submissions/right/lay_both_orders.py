from __future__ import annotations

from typing import Callable, Literal, Optional

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu}


class TransformerLayer(nn.Module):
    """A configurable self-attention layer.

    Args:
        dim: Embedding dimension.
        heads: Number of attention heads; must divide ``dim``.
        expansion: Hidden width of the feed-forward part, as a multiple of ``dim``.
        activation: Non-linearity of the feed-forward part.
        norm_first: Normalise the input of each branch rather than the sum.
        p: Dropout probability.
    """

    def __init__(
        self,
        dim: int,
        heads: int,
        *,
        expansion: int = 4,
        activation: Literal["relu", "gelu"] = "gelu",
        norm_first: bool = False,
        p: float = 0.0,
    ) -> None:
        super().__init__()
        if dim % heads:
            raise ValueError(f"{heads=} does not divide {dim=}")
        self.heads, self.norm_first, self.p = heads, norm_first, p
        self.in_proj = nn.Linear(dim, 3 * dim)
        self.out_proj = nn.Linear(dim, dim)
        self.expand = nn.Linear(dim, expansion * dim)
        self.contract = nn.Linear(expansion * dim, dim)
        self.norms = nn.ModuleList([nn.LayerNorm(dim), nn.LayerNorm(dim)])
        self.act = _ACTIVATIONS[activation]

    def _attend(self, x: Tensor, bias: Optional[Tensor]) -> Tensor:
        q, k, v = self.in_proj(x).chunk(3, dim=-1)
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(-3, -2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return self.out_proj(y.transpose(-3, -2).flatten(-2))

    def _feed(self, x: Tensor) -> Tensor:
        return self.contract(F.dropout(self.act(self.expand(x)), self.p, self.training))

    def forward(self, x: Tensor, attn_bias: Optional[Tensor] = None) -> Tensor:
        """``attn_bias`` is added to the scores: 0 where allowed, -inf where not, shape (B, 1, 1, L) or (L, L)."""
        branches = (lambda t: self._attend(t, attn_bias), self._feed)
        for norm, branch in zip(self.norms, branches):
            if self.norm_first:
                x = x + F.dropout(branch(norm(x)), self.p, self.training)
            else:
                x = norm(x + F.dropout(branch(x), self.p, self.training))
        return x
