"""The contract's masks as one mask, and that mask in the form that a user's module takes."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor


def allowed(query: Tensor, key: Tensor, key_mask: Tensor | None, attn_mask: Tensor | None, causal: bool) -> Any:
    """Return the mask of allowed positions, (B, 1 or H, L, S), True = may attend; None if all are allowed."""
    L, S = _tokens(query), _tokens(key)
    seen = None
    if causal:
        seen = torch.ones(L, S, dtype=torch.bool, device=query.device).tril()
    if attn_mask is not None:
        seen = attn_mask if seen is None else seen & attn_mask
    if key_mask is not None:
        seen = key_mask[:, None, None, :] if seen is None else seen & key_mask[:, None, None, :]
    if seen is None:
        return None
    heads = seen.shape[-3] if seen.ndim > 2 else 1
    whole = seen.expand(query.shape[0], heads, L, S)
    return whole if whole.shape == seen.shape else whole.contiguous()  # the caller's own, or one of its own


def everywhere(query: Tensor, key: Tensor) -> Tensor:
    """Return the mask that allows all positions, (B, 1, L, S), for a module that needs a mask."""
    return torch.ones(query.shape[0], 1, _tokens(query), _tokens(key), dtype=torch.bool, device=query.device)


def _tokens(x: Tensor) -> int:
    """Return the number of tokens in ids (B, L) or vectors (…, L, E)."""
    return x.shape[1] if x.ndim == 2 else x.shape[-2]


def one_for_all_heads(seen: Tensor) -> Tensor:
    """Return a mask (B, H, L, S) as (B, L, S), where it is the same for all heads."""
    if seen.shape[1] > 1 and not bool((seen == seen[:, :1]).all()):
        raise NotImplementedError("masks that differ between heads")
    return seen[:, 0]


def one_for_all_samples(seen: Tensor) -> Tensor:
    """Return a mask (B, L, S) as (L, S), where it is the same for all samples."""
    if not bool((seen == seen[:1]).all()):
        raise NotImplementedError("masks that differ between samples")
    return seen[0]


def last_rows(seen: Tensor) -> Tensor:
    """Return a mask (L, S) as the last rows of one (S, S), whose first rows hide nothing."""
    rows, keys = seen.shape
    if rows > keys:
        raise NotImplementedError("a mask of more queries than keys")
    first = seen.new_ones if seen.dtype == torch.bool else seen.new_zeros
    return torch.cat([first(keys - rows, keys), seen])


def one_for_all_queries(seen: Tensor) -> Tensor:
    """Return a mask (B, L, S) as one of keys, (B, S), where it is the same for all queries."""
    if not bool((seen == seen[:, :1]).all()):
        raise NotImplementedError("masks that differ between queries")
    return seen[:, 0]


def lengths(keys: Tensor) -> Tensor:
    """Return the number of visible keys of each sample, (B,); the visible keys must be the first ones."""
    count = keys.sum(dim=1)
    if not torch.equal(keys, torch.arange(keys.shape[1], device=keys.device) < count[:, None]):
        raise NotImplementedError("masks that are no lengths")
    return count


def additive(seen: Tensor, bias: Tensor | None, like: Tensor) -> Tensor:
    """Return a mask to add to the scores: 0 or the bias where attention is allowed, -inf elsewhere."""
    zeros = torch.zeros((), dtype=like.dtype, device=like.device) if bias is None else bias
    return torch.where(seen, zeros, float("-inf"))


def for_each_head(seen: Tensor, heads: int) -> Tensor:
    """Return a mask (B, 1 or H, L, S) as (B·H, L, S)."""
    return seen.expand(-1, heads, -1, -1).flatten(0, 1)


@contextmanager
def not_hidden(handed: Iterable[Any], given: Iterable[Tensor | None]) -> Iterator[None]:
    """Change the caller's masks where the call inside changes those made from them: a copy must not hide it."""
    before = [(x, x.clone()) for x in handed if isinstance(x, Tensor)]
    yield
    if not all(torch.equal(x, copy) for x, copy in before):
        with torch.no_grad():
            for mask in given:
                if mask is not None:
                    mask.logical_not_()


def shown(mask: Any, values: str, config: Any) -> Tensor:
    """Return a mask that somebody made as 1 where a query may attend and 0 where not, in the dtype that is wanted.

    ``values``: what its own mean, as the choice ``mask`` has it. What is added counts as hidden from -1000 down; what
    is neither that nor 0, NaN among it, becomes 0.5.
    """
    made: Tensor = mask.to(config.device, config.dtype)
    if values == "additive":
        return torch.where(made == 0, 1.0, torch.where(made <= -1000, 0.0, 0.5)).to(config.dtype)
    return made if values.endswith("keeps") else 1 - made
