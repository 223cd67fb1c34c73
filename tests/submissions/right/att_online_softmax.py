"""
Toy flash attention on the CPU: walk over blocks of keys and keep a running maximum and a running sum.
Not fast, but the (n x m) matrix never exists.
"""
import math

import torch


def flash_like(q, k, v, block=4):
    n, m = q.shape[-2], k.shape[-2]
    if v.shape[-2] != m:
        raise RuntimeError("k and v must have the same length")
    q = q / math.sqrt(q.shape[-1])
    run_max = q.new_full(q.shape[:-1] + (1,), -float("inf"))
    run_sum = q.new_zeros(q.shape[:-1] + (1,))
    acc = q.new_zeros(q.shape[:-1] + (v.shape[-1],))
    for start in range(0, m, block):
        kb = k[..., start:start + block, :]
        vb = v[..., start:start + block, :]
        s = q @ kb.transpose(-1, -2)
        new_max = torch.maximum(run_max, s.amax(-1, keepdim=True))
        correction = torch.exp(run_max - new_max)
        p = torch.exp(s - new_max)
        run_sum = run_sum * correction + p.sum(-1, keepdim=True)
        acc = acc * correction + p @ vb
        run_max = new_max
    return acc / run_sum
