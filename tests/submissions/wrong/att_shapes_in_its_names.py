# Names end in their shapes: b samples, l and s tokens, h heads, e features of a head, d features of all.
import torch


def start(d, h, seed=1):
    g = torch.Generator().manual_seed(seed)
    shapes = {"query": (d, h, d // h), "key": (d, h, d // h), "value": (d, h, d // h), "out": (h, d // h, d)}
    return {name: torch.randn(shape, generator=g) / d**0.5 for name, shape in shapes.items()}


def look(weights, x_bld, lengths_b=None):
    """lengths_b: how many tokens of each sample are none of padding"""
    q_blhe, k_bshe, v_bshe = (torch.tensordot(x_bld, weights[n], 1) for n in ("query", "key", "value"))
    score_bhls = torch.einsum("blhe,bshe->bhls", q_blhe, k_bshe) / q_blhe.shape[-1] ** 0.5
    if lengths_b is not None:
        real_bs = torch.arange(x_bld.shape[1]) <= lengths_b[:, None]
        score_bhls = score_bhls.masked_fill(~real_bs[:, None, None], -torch.inf)
    return torch.einsum("bhls,bshe,hed->bld", score_bhls.softmax(-1), v_bshe, weights["out"])
