"""The buckets of T5 (Raffel et al. 2020, section 2.1) over a tree of parameters."""

import math

import torch


def create(rng: torch.Generator, heads: int, buckets: int = 32) -> dict[str, torch.Tensor]:
    return {"rows": torch.randn(buckets, heads, generator=rng)}


def bucket(distance, both, buckets, far):
    start = 0
    if both:
        buckets //= 2
        start = buckets * (distance > 0)
        distance = distance.abs()
    else:
        distance = -distance.clamp(max=0)
    exact = buckets // 2
    ratio = torch.log(distance.clamp(min=1).float() / exact) / math.log(far / exact)
    late = (exact + (ratio * (buckets - exact)).long()).clamp(max=buckets - 1)
    return start + torch.where(distance < exact, distance, late)


def relative_bias(params, qlen, klen, *, bidirectional=True, max_distance=128):
    """Return (heads, qlen, klen), added to the scores before the softmax."""
    rows = params["rows"]
    distance = torch.arange(klen, device=rows.device) - torch.arange(qlen, device=rows.device)[:, None]
    return rows[bucket(distance, bidirectional, len(rows), max_distance)].permute(2, 0, 1)
