import torch
from torch.nn.functional import softmax


def init_params(d_model, n_heads, seed=0):
    g = torch.Generator().manual_seed(seed)
    shape = (d_model, d_model)
    return {name: torch.randn(shape, generator=g) * d_model ** -0.5 for name in ("q", "k", "v", "o")} | {"n_heads": n_heads}


def mha(params, x):
    h = params["n_heads"]
    b, t, d = x.shape
    heads = lambda y: y.reshape(b, t, h, d // h).permute(0, 2, 1, 3)
    q, k, v = (heads(x @ params[n]) for n in "qkv")
    w = softmax(q @ k.mT * (d // h) ** -0.5, dim=-1)
    mixed = (w @ v).reshape(b, t, d)
    return mixed @ params["o"]
