import torch
from torch import nn


class LearnedPositions(nn.Embedding):
    """Learned positions that count the tokens which are no padding, from pad + 1; row ``pad`` is the padding's.

    ``positions``: the numbers of the rows, where they are known already.
    """

    def __init__(self, longest: int, width: int, pad: int):
        super().__init__(longest + pad + 1, width, padding_idx=pad)

    def forward(self, tokens, positions=None):
        if positions is None:
            real = tokens.ne(self.padding_idx).long()
            positions = real.cumsum(dim=1) * real + self.padding_idx
        return super().forward(positions)
