"""An encoder as functions over the tree of weights that a release has; nothing in this file makes such a tree."""

import torch
from torch.nn import functional as F


def dense(part, x):
    return torch.matmul(x, part["kernel"]) + part["bias"]


def normed(part, x):
    return F.layer_norm(x, x.shape[-1:], part["gamma"], part["beta"], 1e-12)


def attended(part, x, hidden, heads):
    batch, length, width = x.shape
    q, k, v = (dense(part[name], x).view(batch, length, heads, width // heads) for name in ("query", "key", "value"))
    scores = torch.einsum("blhd,bshd->bhls", q, k) / (width // heads) ** 0.5
    read = torch.einsum("bhls,bshd->blhd", (scores + hidden).softmax(-1), v)
    return read.reshape(batch, length, width)


def layer(part, x, hidden, heads):
    own = part["attention"]
    x = normed(own["output"]["LayerNorm"], x + dense(own["output"]["dense"], attended(own["self"], x, hidden, heads)))
    wide = F.gelu(dense(part["intermediate"]["dense"], x))
    return normed(part["output"]["LayerNorm"], x + dense(part["output"]["dense"], wide))


def bert(weights, input_ids, input_mask=None, *, heads):
    """input_mask: 1 for tokens, 0 for padding. Returns a vector for each token."""
    if input_mask is None:
        input_mask = torch.ones_like(input_ids)
    tables = weights["embeddings"]
    x = F.embedding(input_ids, tables["word_embeddings"]) + tables["position_embeddings"][: input_ids.shape[1]]
    x = normed(tables["LayerNorm"], x)
    hidden = input_mask[:, None, None, :].to(x.dtype) * -10000.0
    for name in sorted(weights["encoder"], key=lambda key: int(key.split("_")[1])):
        x = layer(weights["encoder"][name], x, hidden, heads)
    return x
