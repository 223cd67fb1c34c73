import torch
from torch import Tensor


def safe_attention(query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None = None) -> Tensor:
    """Attention which returns zeros for a query that is not allowed to look anywhere.

    allowed: bool, broadcastable to (batch, heads, queries, keys)
    """
    logits = torch.einsum("bhqd,bhkd->bhqk", query, key) / query.size(-1) ** 0.5
    if allowed is not None:
        logits = logits.masked_fill(~allowed, -torch.inf)
    weights = torch.softmax(logits, dim=-1)
    weights = torch.nan_to_num(weights, nan=0.0)
    return torch.einsum("bhqk,bhkd->bhqd", weights, value)
