"""pure functions and a pytree of parameters, as I would do it in jax"""
from typing import NamedTuple

import torch


class MHAParams(NamedTuple):
    wq: torch.Tensor  # [d, h, k]
    wk: torch.Tensor  # [d, h, k]
    wv: torch.Tensor  # [d, h, k]
    wo: torch.Tensor  # [h, k, d]


def init(gen, d, h):
    assert d % h == 0
    k = d // h
    mk = lambda *s: torch.randn(*s, generator=gen) / d ** 0.5
    return MHAParams(mk(d, h, k), mk(d, h, k), mk(d, h, k), mk(h, k, d))


def apply(params, xq, xkv, mask=None):
    q = torch.einsum("btd,dhk->bhtk", xq, params.wq)
    k = torch.einsum("bsd,dhk->bhsk", xkv, params.wk)
    v = torch.einsum("bsd,dhk->bhsk", xkv, params.wv)
    logits = torch.einsum("bhtk,bhsk->bhts", q, k) / q.shape[-1] ** 0.5
    if mask is not None:
        logits = torch.where(mask, logits, torch.full_like(logits, -1e30))
    probs = torch.softmax(logits, dim=-1)
    ctx = torch.einsum("bhts,bhsk->bhtk", probs, v)
    return torch.einsum("bhtk,hkd->btd", ctx, params.wo)
