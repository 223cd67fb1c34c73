from torch import nn


def feed_forward(dim, mult=4, p=0.):
    """a factory: the network as nn.Sequential, GELU"""
    return nn.Sequential(
        nn.Linear(dim, dim * mult),
        nn.GELU(),
        nn.Dropout(p),
        nn.Linear(dim * mult, dim),
    )
