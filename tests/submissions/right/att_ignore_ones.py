import torch
from torch import Tensor


def weighted_sum(queries: Tensor, keys: Tensor, values: Tensor, ignore: Tensor | None = None, verbose: bool = False) -> Tensor:  # noqa: E501
    """ignore holds 1 where a key must not be used and 0 elsewhere, (B, 1, Lq, Lk)"""
    logits = torch.matmul(queries, keys.swapaxes(-2, -1)).div(queries.size(-1) ** 0.5)
    if ignore is not None:
        logits = torch.where(ignore > 0, torch.full_like(logits, float("-inf")), logits)
    if verbose:
        print(logits.shape, logits.min().item())
    top = logits.amax(dim=-1, keepdim=True)
    e = torch.exp(logits - top)
    return torch.matmul(e / e.sum(dim=-1, keepdim=True), values)
