"""Cross-attention after a lecture that writes softmax(XA(YB)ᵀ)YC Z: the matrices have the lecture's letters."""

import torch.nn as nn


class LectureAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        if width % heads:
            raise ValueError(f"{heads} heads do not divide {width}")
        self.heads = heads
        self.B = nn.Linear(width, width)
        self.A = nn.Linear(width, width)
        self.C = nn.Linear(width, width)
        self.Z = nn.Linear(width, width)

    def rows(self, matrix, X):
        return matrix(X).unflatten(-1, (self.heads, -1)).movedim(-2, 1)

    def forward(self, X, Y):
        asked, offered, told = self.rows(self.A, X), self.rows(self.B, Y), self.rows(self.C, Y)
        P = (asked @ offered.mT * asked.shape[-1] ** -0.5).softmax(-1)
        return self.Z((P @ told).movedim(1, -2).flatten(-2))
