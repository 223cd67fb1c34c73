"""Sentence encoder over the flat dictionary of a checkpoint; blocks are counted until a key is missing."""

import numpy as np
import torch
import torch.nn.functional as F


def scaled_to_one(h, gain):
    return h * torch.rsqrt((h**2).mean(-1, keepdim=True) + 1e-6) * gain


def ranges(n, total=32, end=128):
    """Bucket of key - query; later keys in the upper half. As integers, from NumPy."""
    away = np.arange(n)[None, :] - np.arange(n)[:, None]
    half, near = total // 2, total // 4
    size = np.abs(away)
    with np.errstate(divide="ignore"):
        far = near + np.floor(np.log(np.maximum(size, 1) / near) / np.log(end / near) * (half - near) + 1e-9)
    inside = np.where(size < near, size, np.minimum(far, half - 1)).astype(np.int64)
    return torch.from_numpy(inside + half * (away > 0))


def mix(ckpt, at, h, heads, added):
    batch, n, _ = h.shape
    q, k, v = (F.linear(h, ckpt[f"{at}.{name}.weight"]).view(batch, n, heads, -1).transpose(1, 2) for name in "qkv")
    weights = torch.softmax(q @ k.transpose(-1, -2) + added, dim=-1)
    return F.linear((weights @ v).transpose(1, 2).reshape(batch, n, -1), ckpt[f"{at}.o.weight"])


def encode_sentences(ckpt, token_ids, heads, padding=None):
    """padding (batch, n): True at places without a token."""
    h = ckpt["token_embedding.weight"][token_ids]
    added = ckpt["stack.0.attention.relative_bias.weight"][ranges(token_ids.shape[1])].permute(2, 0, 1)[None]
    if padding is not None:
        added = added.masked_fill(padding[:, None, None, :], float("-inf"))
    block = 0
    while f"stack.{block}.attention.q.weight" in ckpt:
        at = f"stack.{block}"
        h = h + mix(ckpt, f"{at}.attention", scaled_to_one(h, ckpt[f"{at}.norm_attention.weight"]), heads, added)
        inner = F.relu(F.linear(scaled_to_one(h, ckpt[f"{at}.norm_feed.weight"]), ckpt[f"{at}.feed.up.weight"]))
        h = h + F.linear(inner, ckpt[f"{at}.feed.down.weight"])
        block += 1
    return scaled_to_one(h, ckpt["norm_last.weight"])
