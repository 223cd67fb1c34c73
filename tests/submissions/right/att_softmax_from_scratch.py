"""Everything by hand, no torch.nn."""
import torch
from torch import Tensor


def stable_softmax(x: Tensor, dim: int) -> Tensor:
    biggest = x.max(dim=dim, keepdim=True).values
    e = torch.exp(x - biggest)
    return e / e.sum(dim=dim, keepdim=True)


def dot_product_attention(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None) -> Tensor:
    """
    Q: (batch, ..., queries, d_k)
    K: (batch, ..., keys, d_k)
    V: (batch, ..., keys, d_v)
    mask: (queries, keys) boolean. Positions with True are attended to.
    """
    pre = torch.einsum("... q d, ... k d -> ... q k", Q, K) * (Q.shape[-1] ** -0.5)
    if mask is not None:
        pre = torch.where(mask, pre, torch.tensor(float("-inf"), dtype=pre.dtype, device=pre.device))
    probs = stable_softmax(pre, dim=-1)
    return torch.einsum("... q k, ... k d -> ... q d", probs, V)
