"""One attention layer of a checkpoint that was saved as npz, for one sentence, without any framework."""

import numpy as np


def self_attention(params, tokens, heads, scope="encoder.attention."):
    """tokens (n, width) -> (n, width)"""
    n, width = tokens.shape
    size = width // heads

    def project(name):
        y = tokens @ params[scope + name + ".kernel"] + params[scope + name + ".bias"]
        return y.reshape(n, heads, size).transpose(1, 0, 2)

    q, k, v = project("query"), project("key"), project("value")
    scores = np.matmul(q, k.transpose(0, 2, 1)) / np.sqrt(float(size))
    scores -= scores.max(axis=2, keepdims=True)
    share = np.exp(scores)
    share /= share.sum(axis=2, keepdims=True)
    mixed = np.matmul(share, v).transpose(1, 0, 2).reshape(n, width)
    return mixed @ params[scope + "out.kernel"] + params[scope + "out.bias"]
