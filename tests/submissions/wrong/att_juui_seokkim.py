"""주의: 여러 머리가 나란히 본다."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class 설정:
    너비: int = 192
    머리: int = 6


class 여러머리주의(nn.Module):
    def __init__(self, 설: 설정):
        super().__init__()
        self.머리 = 설.머리
        self.qkv = nn.Linear(설.너비, 3 * 설.너비)
        self.모음 = nn.Linear(설.너비, 설.너비)

    def forward(self, 낱말, 빈칸=None):
        """낱말 (묶음, 길이, 너비); 빈칸 (묶음, 길이) bool: True인 낱말은 아무도 보지 않는다."""
        q, k, v = self.qkv(낱말).unflatten(-1, (3, self.머리, -1)).permute(2, 0, 3, 1, 4)
        점수 = q @ k.mT / k.shape[-1] ** 0.5
        if 빈칸 is not None:
            점수 = 점수.masked_fill(빈칸[:, None, None], -torch.inf)
        return self.모음((점수.softmax(-1) @ v).reshape(낱말.shape))
