import math

import torch


def bucket_ids(rel, n=32, far=128, both=True):
    """T5's buckets of the relative positions `rel` (key minus query)."""
    offset = torch.zeros_like(rel)
    if both:
        n //= 2
        offset = (rel > 0).long() * n
        rel = rel.abs()
    else:
        rel = (-rel).clamp(min=0)
    exact = n // 2
    ratio = (rel.clamp(min=1).double() / exact).log() / math.log(far / exact)
    coarse = (exact + (ratio * (n - exact)).long()).clamp(max=n - 1)
    return offset + torch.where(rel < exact, rel, coarse)


def lookup(table, n_query, n_key, both=True, far=128):
    """What is added to the scores, (heads, n_query, n_key), out of a table (buckets, heads)."""
    q = torch.arange(n_query, device=table.device).unsqueeze(1)
    k = torch.arange(n_key, device=table.device).unsqueeze(0)
    rows = bucket_ids(k - q, n=len(table), far=far, both=both)
    return table[rows].movedim(-1, 0)
