"""Causal attention over a flat dict of arrays, as in a saved model; kernels are (in, out)."""

import numpy


def _softmax(z):
    z = numpy.exp(z - z.max(-1, keepdims=True))
    return z / z.sum(-1, keepdims=True)


def attn(x, weights, n_heads, name="blocks/0/"):
    """x: [length, dim]"""
    length, dim = x.shape
    qkv = x @ weights[name + "c_attn/w"] + weights[name + "c_attn/b"]
    later = numpy.triu(numpy.full((length, length), -1e10), k=1)
    parts = []
    for q, k, v in zip(*[numpy.split(t, n_heads, axis=1) for t in numpy.split(qkv, 3, axis=1)]):
        parts.append(_softmax(q @ k.T / numpy.sqrt(dim) + later) @ v)
    return numpy.concatenate(parts, axis=1) @ weights[name + "c_proj/w"] + weights[name + "c_proj/b"]
