from dataclasses import dataclass
import math
import torch
from torch import nn, Tensor

@dataclass
class RelPosConfig:
    n_head: int
    n_bucket: int = 32
    max_distance: int = 128
    is_decoder: bool = False

class RelPos(nn.Module):
    def __init__(self, cfg: RelPosConfig):
        super().__init__()
        self.cfg = cfg
        self.bias = nn.Embedding(cfg.n_bucket, cfg.n_head)

    @staticmethod
    def to_bucket(rel: Tensor, n: int, dmax: int, is_decoder: bool = True) -> Tensor:
        first = 0
        if is_decoder:
            d = (-rel).clamp(min=0)
        else:
            n //= 2
            first = n * (rel > 0)
            d = rel.abs()
        near = n // 2
        far = near + (torch.log(d.clamp(min=1).double() / near) / math.log(dmax / near) * (n - near)).long()
        return first + torch.where(d < near, d, far.clamp(max=n - 1))

    def forward(self, n_query: int, n_key: int) -> Tensor:
        c = self.cfg
        rel = torch.arange(n_key)[None] - torch.arange(n_query)[:, None]
        return self.bias(self.to_bucket(rel, c.n_bucket, c.max_distance)).permute(2, 0, 1)[None]
