import torch
import math


def encode_position(x, num_freqs):
    """NeRF input encoding: x (..., d) -> (..., d + 2*d*num_freqs)"""
    out = [x]
    for k in range(num_freqs):
        for fn in (torch.sin, torch.cos):
            out.append(fn((2.0 ** k) * math.pi * x.float() if x.dtype in (torch.half, torch.bfloat16) else (2.0 ** k) * math.pi * x).to(x.dtype))
    return torch.cat(out, dim=-1)
