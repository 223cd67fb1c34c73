"""Pieces of a Gemma port, as functions over plain arrays of weights. All norms scale by (1 + w), w begins at zero."""
import torch

TINY = 1e-6


def root_mean_norm(x, w):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + TINY) * (1.0 + w)
