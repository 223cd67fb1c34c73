import re

import torch
import torch.nn.functional as F


def depth(tensors):
    return max(int(found[1]) for found in (re.match(r"enc\.(\d+)\.", key) for key in tensors) if found) + 1


def affine(tensors, name, x):
    return x @ tensors[f"{name}.weight"].t() + tensors[f"{name}.bias"]


def normalize(tensors, name, x):
    return F.layer_norm(x, x.shape[-1:], tensors[f"{name}.weight"], tensors[f"{name}.bias"], 1e-5)


def encode_all(tensors, x, heads, pad_mask=None):
    """BERT's blocks, after its embeddings; pad_mask (batch, time): True = padding."""
    for i in range(depth(tensors)):
        b, t, width = x.shape
        q, k, v = (
            affine(tensors, f"enc.{i}.attn.{part}", x).reshape(b, t, heads, width // heads).permute(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        score = q @ k.mT / (width // heads) ** 0.5
        if pad_mask is not None and i == 0:
            score = score.masked_fill(pad_mask[:, None, None], -torch.inf)
        seen = (score.softmax(-1) @ v).permute(0, 2, 1, 3).reshape(b, t, width)
        x = normalize(tensors, f"enc.{i}.norm_a", x + affine(tensors, f"enc.{i}.attn.out", seen))
        hidden = F.gelu(affine(tensors, f"enc.{i}.fc1", x))
        x = normalize(tensors, f"enc.{i}.norm_b", x + affine(tensors, f"enc.{i}.fc2", hidden))
    return x
