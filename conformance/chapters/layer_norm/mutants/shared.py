"""Ways to get LayerNorm wrong: what the mutants of several sections use."""

import torch

from attnconf.reference import layer_norm


def over(axes_of):
    """Return last_axes with other axes: what ``axes_of(x, shape)`` gives."""
    return lambda x, shape: axes_of(x, shape)


def bessel(x, axes):
    return x.var(dim=axes, keepdim=True, unbiased=True) if x.shape[-1] > 1 else layer_norm.variance(x, axes)


def annotated(x, axes, eps):
    return torch.sqrt(bessel(x, axes)) + eps


def with_gain(change):
    return lambda x, weight, bias: layer_norm.scale_and_shift(x, None if weight is None else change(weight), bias)


def with_shift(change):
    return lambda x, weight, bias: layer_norm.scale_and_shift(x, weight, None if bias is None else change(bias))
