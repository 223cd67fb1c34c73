"""The network of an encoder layer, over the dict that holds all weights of the layer."""

import torch


def make_layer(width, inner, dtype=torch.float32):
    def matrix(rows, columns):
        return torch.randn(rows, columns, dtype=dtype) / rows**0.5

    return {
        "wq": matrix(width, width), "wo": matrix(width, width), "bq": torch.zeros(width, dtype=dtype),
        "bo": torch.zeros(width, dtype=dtype), "w1": matrix(width, inner), "b1": torch.zeros(inner, dtype=dtype),
        "w2": matrix(inner, width), "b2": torch.zeros(width, dtype=dtype),
    }  # fmt: skip


def network(w, x):
    return torch.relu(x @ w["w1"] + w["b1"]) @ w["w2"] + w["b2"]
