"""Relative bias; bucket edges are tabulated once with numpy, then every distance is looked up."""
import numpy as np
import torch
import torch.nn as nn


def edges(n, max_distance):
    """bucket of each distance 0 ... max_distance in one direction with n buckets"""
    exact = n // 2
    d = np.arange(max_distance + 1)
    with np.errstate(divide="ignore"):
        far = exact + np.floor(np.log(d / exact) / np.log(max_distance / exact) * (n - exact))
    return torch.from_numpy(np.where(d < exact, d, np.minimum(far, n - 1)).astype(np.int64))


class BucketBias(nn.Module):
    def __init__(self, config: dict):
        super().__init__()
        self.two_way = not config["causal"]
        self.n = config["buckets"] // 2 if self.two_way else config["buckets"]
        self.far = config["max_distance"]
        self.register_buffer("of_distance", edges(self.n, self.far), persistent=False)
        self.per_head = nn.Embedding(config["buckets"], config["heads"])

    def forward(self, lq, lk=None):
        lk = lq if lk is None else lk
        ahead = torch.arange(lk) - torch.arange(lq).unsqueeze(1)
        if self.two_way:
            index = self.of_distance[ahead.abs().clamp(max=self.far)] + self.n * (ahead > 0)
        else:
            index = self.of_distance[(-ahead).clamp(0, self.far)]
        return torch.movedim(self.per_head(index), -1, 0)
