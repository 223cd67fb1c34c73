import math
from typing import Optional

import torch.nn as nn
from torch import Tensor


class InputEmbedding(nn.Module):
    """Word vectors times the root of their width. pad_id: the id that is not trained, if there is one."""

    def __init__(self, width: int, n_words: int, pad_id: Optional[int] = None) -> None:
        super().__init__()
        self.factor = math.sqrt(width)
        self.words = nn.Embedding(n_words, width, padding_idx=pad_id or 0)

    def forward(self, ids: Tensor) -> Tensor:
        return self.factor * self.words(ids)
