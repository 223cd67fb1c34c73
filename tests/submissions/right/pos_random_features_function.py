from math import tau
import torch as th


def input_mapping(x, B):
    """x: (n, d), B: (d, m) -> (n, 2m)"""
    w = tau * (x.to(th.promote_types(x.dtype, th.float32)) @ B.to(th.promote_types(x.dtype, th.float32)))
    return th.cat((w.sin(), w.cos()), -1).to(x.dtype)
