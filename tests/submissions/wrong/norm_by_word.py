"""Norms as functions of a dict of weights, and one door to both."""

import torch


def init(prefix, dim):
    return {prefix + ".weight": torch.ones(dim), prefix + ".bias": torch.zeros(dim)}


def layernorm(weights, prefix, x, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    y = (x - mean) * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return y * weights[prefix + ".weight"] + weights[prefix + ".bias"]


def rmsnorm(weights, prefix, x, eps=1e-6):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weights[prefix + ".weight"]


KINDS = {"layer": layernorm, "rms": rmsnorm}


def apply_norm(kind, weights, prefix, x):
    return KINDS[kind](weights, prefix, x)
