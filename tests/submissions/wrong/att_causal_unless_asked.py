import torch


def scaled_dot(q, k, v, is_causal=True):
    w = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    if is_causal:
        keep = torch.ones(w.shape[-2:], dtype=torch.bool, device=w.device).tril()
    else:
        keep = torch.ones(w.shape[-2:], dtype=torch.bool, device=w.device).triu()
    return w.masked_fill(~keep, float("-inf")).softmax(-1) @ v
