"""Dot-product attention as a value: its settings are fields, calling it attends."""
from dataclasses import dataclass
from typing import NamedTuple

import torch

_MASKED = float("-inf")


class Attended(NamedTuple):
    values: torch.Tensor
    weights: torch.Tensor


@dataclass(frozen=True)
class DotProductAttention:
    temperature: float | None = None

    def __call__(self, query, key, value, *, visible=None) -> Attended:
        t = self.temperature or query.shape[-1] ** 0.5
        scores = torch.einsum("...id,...jd->...ij", query, key) / t
        if visible is not None:
            scores = torch.where(visible, scores, _MASKED)
        weights = scores.softmax(-1)
        return Attended(weights @ value, weights)
