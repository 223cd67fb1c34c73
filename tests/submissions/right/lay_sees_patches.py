"""A vision model for a course: squares of a picture are its words, and one learned vector gathers what they say."""

import torch
from torch import nn


class SeesPatches(nn.Module):
    def __init__(self, image_size, patch_size, num_classes, dim, depth, heads, mlp_dim, channels=3, dropout=0.0):
        super().__init__()
        squares = (image_size // patch_size) ** 2
        self.side = patch_size
        self.project = nn.Linear(channels * patch_size**2, dim)
        self.gather = nn.Parameter(torch.zeros(1, 1, dim))
        self.places = nn.Parameter(torch.randn(1, squares + 1, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, heads, mlp_dim, dropout, "gelu", batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, depth, nn.LayerNorm(dim), enable_nested_tensor=False)
        self.answer = nn.Linear(dim, num_classes)

    def forward(self, image):
        squares = nn.functional.unfold(image, self.side, stride=self.side).transpose(1, 2)
        x = self.project(squares)
        x = torch.cat([self.gather.expand(len(x), -1, -1), x], dim=1) + self.places
        return self.answer(self.layers(x)[:, 0])
