# Positions for patches, learned; a class token may stand in front of them.
import torch
import torch.nn as nn


class PatchPositions(nn.Module):
    """tokens (B, N, D) -> (B, N + 1, D) with the class token, or (B, N, D) without."""

    def __init__(self, num_patches, dim, cls_token=True, dropout=0.0):
        super().__init__()
        self.first = nn.Parameter(torch.randn(1, 1, dim) * 0.02) if cls_token else None
        self.table = nn.Parameter(torch.randn(1, num_patches + int(cls_token), dim) * 0.02)
        self.drop = nn.Dropout(dropout)

    def forward(self, tokens):
        if self.first is not None:
            tokens = torch.cat([self.first.expand(len(tokens), -1, -1), tokens], dim=1)
        return self.drop(tokens + self.table[:, : tokens.shape[1]])
