from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class AttentionSpec:
    width: int
    heads: int

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise ValueError("heads must divide width")

    @property
    def head_width(self) -> int:
        return self.width // self.heads


class SelfAttention(nn.Module):
    def __init__(self, spec: AttentionSpec) -> None:
        super().__init__()
        self.spec = spec
        self.project_in = nn.ModuleDict({name: nn.Linear(spec.width, spec.width) for name in ("query", "key", "value")})
        self.project_out = nn.Linear(spec.width, spec.width)

    def forward(self, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        n, t, _ = tokens.shape
        shape = (n, t, self.spec.heads, self.spec.head_width)
        q, k, v = (self.project_in[name](tokens).view(shape).transpose(1, 2) for name in ("query", "key", "value"))
        scores = torch.einsum("nhid,nhjd->nhij", q, k) / self.spec.head_width
        if keep is not None:
            scores = scores.masked_fill(~keep[:, None, None, :], float("-inf"))
        mixed = torch.einsum("nhij,nhjd->nhid", scores.softmax(-1), v)
        return self.project_out(mixed.transpose(1, 2).flatten(2))
