from __future__ import annotations

from typing import Optional

import torch


def sdpa(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    bias: Optional[torch.Tensor] = None,
    *,
    scale: Optional[float] = None,
) -> torch.Tensor:
    """Scaled dot-product attention.

    Args:
        query: ``[N, H, Tq, D]``
        key: ``[N, H, Tk, D]``
        value: ``[N, H, Tk, Dv]``
        bias: additive, broadcastable to ``[N, H, Tq, Tk]``; use ``-inf`` to forbid.
        scale: overrides ``1 / sqrt(D)``.

    Returns:
        ``[N, H, Tq, Dv]``
    """
    assert query.ndim == key.ndim == value.ndim == 4, "expected four axes"
    assert query.size(0) == key.size(0) == value.size(0), "batch sizes differ"
    assert query.size(1) == key.size(1) == value.size(1), "numbers of heads differ"
    assert query.size(-1) == key.size(-1), "query and key width differ"
    assert key.size(-2) == value.size(-2), "one value per key, please"

    factor = query.size(-1) ** -0.5 if scale is None else scale
    logits = torch.matmul(query * factor, key.transpose(-1, -2))
    if bias is not None:
        logits = logits + bias
    # log-sum-exp by hand keeps us honest
    log_z = torch.logsumexp(logits, dim=-1, keepdim=True)
    return torch.matmul((logits - log_z).exp(), value)
