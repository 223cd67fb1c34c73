import dataclasses
import math

import torch


@dataclasses.dataclass(frozen=True)
class BucketedBias:
    """A learned number for each head and each bucket of distances, after T5; its numbers are handed to ``apply``."""

    heads: int
    num_buckets: int = 32
    max_distance: int = 128
    bidirectional: bool = True

    def init(self, seed: int = 0):
        made = torch.Generator().manual_seed(seed)
        return {"per_bucket": torch.randn(self.num_buckets, self.heads, generator=made)}

    def bucket(self, offset):
        buckets = self.num_buckets
        start = torch.zeros_like(offset)
        if self.bidirectional:
            buckets //= 2
            start = torch.where(offset > 0, buckets, 0)
            distance = offset.abs()
        else:
            distance = (-offset).clamp(min=0)
        exact = buckets // 2
        ratio = distance.clamp(min=1).to(torch.float64) / exact
        far = exact + (ratio.log() / math.log(self.max_distance) * (buckets - exact)).long()
        return start + torch.where(distance < exact, distance, far.clamp(max=buckets - 1))

    def apply(self, params, q_len, k_len):
        offset = torch.arange(k_len)[None, :] - torch.arange(q_len)[:, None]
        return params["per_bucket"][self.bucket(offset)].permute(2, 0, 1)
