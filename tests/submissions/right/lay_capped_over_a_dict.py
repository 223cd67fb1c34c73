"""One block over a dict of tensors: four norms that add 1 to their gains, pairs of neighbours turned, scores capped.

Whoever calls it says where each token stands and what it may look at.
"""

import torch


def new_layer(rng, width, heads, kv_heads, head_width, inner):
    def matrix(rows, columns):
        return torch.randn(rows, columns, generator=rng) * columns**-0.5

    w = {f"{name}_norm": torch.zeros(width) for name in ("before_attn", "behind_attn", "before_ff", "behind_ff")}
    w["q_proj"] = matrix(heads * head_width, width)
    w["k_proj"] = matrix(kv_heads * head_width, width)
    w["v_proj"] = matrix(kv_heads * head_width, width)
    w["o_proj"] = matrix(width, heads * head_width)
    w["gate"], w["up"], w["down"] = matrix(inner, width), matrix(inner, width), matrix(width, inner)
    return w


def rms_norm(x, gain, eps=1e-5):
    """x (..., width) over its root mean square, times 1 + gain."""
    return (1 + gain) * x / (x.square().mean(-1, keepdim=True) + eps).sqrt()


def rotary(x, position_ids):
    """x (batch, heads, time, head_width), position_ids (batch, time)."""
    rates = 10000.0 ** (-torch.arange(0, x.shape[-1], 2, device=x.device, dtype=x.dtype) / x.shape[-1])
    turns = torch.polar(torch.ones((), dtype=x.dtype), position_ids[:, None, :, None] * rates)
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turns).flatten(-2)


def attend(w, x, position_ids, allowed, head_width, logit_cap=None):
    q, k, v = (x @ w["q_proj"].T, x @ w["k_proj"].T, x @ w["v_proj"].T)
    q, k, v = (t.unflatten(-1, (-1, head_width)).transpose(1, 2) for t in (q, k, v))
    q, k = rotary(q, position_ids), rotary(k, position_ids)
    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], dim=1) for t in (k, v))
    scores = q @ k.transpose(-1, -2) / head_width**0.5
    if logit_cap:
        scores = logit_cap * torch.tanh(scores / logit_cap)
    weights = scores.masked_fill(~allowed[:, None], float("-inf")).softmax(-1)
    return (weights @ v).transpose(1, 2).flatten(-2) @ w["o_proj"].T


def feed_forward(w, x):
    return (torch.nn.functional.silu(x @ w["gate"].T) * (x @ w["up"].T)) @ w["down"].T


def capped_layer(w, hidden, position_ids, allowed, head_width, logit_cap=30.0):
    """hidden (batch, time, width), position_ids (batch, time), allowed (batch, time, time): True may be looked at."""
    x = rms_norm(hidden, w["before_attn_norm"])
    x = attend(w, x, position_ids, allowed, head_width, logit_cap)
    hidden = hidden + rms_norm(x, w["behind_attn_norm"])
    x = feed_forward(w, rms_norm(hidden, w["before_ff_norm"]))
    return hidden + rms_norm(x, w["behind_ff_norm"])
