import torch
from torch import nn


class Waves(nn.Module):
    '''Adds sines and cosines to a song.

    song: steps x batch x features
    '''

    def __init__(self, features, longest=2000):
        super().__init__()
        rate = torch.pow(10000.0, -torch.arange(0, features, 2) / features)
        angle = torch.arange(longest)[:, None] * rate
        self.register_buffer('waves', torch.stack([angle.sin(), angle.cos()], dim=2).reshape(longest, 1, -1))

    def forward(self, song):
        return song + self.waves[:song.size(0)]
