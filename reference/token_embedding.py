"""Token embedding: an id is a row of a table.

Symbols as in spec/token_embedding.md: B batch, L tokens, V ids in the vocabulary, D width.
"""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from attnconf.reference.multi_head_attention import multi_head_attention
from attnconf.reference.sinusoidal import sinusoidal


def check_ids(ids: Tensor, size: int) -> None:
    """Raise TypeError where ids are no integers, IndexError where there is no such row."""
    if ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool:
        raise TypeError(f"ids are {ids.dtype}, want integers")
    if ids.numel() and (int(ids.min()) < 0 or int(ids.max()) >= size):
        raise IndexError(f"ids from {int(ids.min())} to {int(ids.max())}, want 0 to {size - 1}")


def rows(ids: Tensor, table: Tensor) -> Tensor:
    """Return the rows of the table, (B, L, D)."""
    return table[ids]


def keep_from_training(table: Tensor, padding_id: int | None) -> Tensor:
    """Return the table, through whose row ``padding_id`` no gradient flows."""
    if padding_id is None:
        return table
    frozen = torch.arange(len(table), device=table.device) == padding_id
    return torch.where(frozen[:, None], table.detach(), table)


def embed(ids: Tensor, table: Tensor, padding_id: int | None = None) -> Tensor:
    """Return the vectors of tokens.

    Shapes:
        ids    (B, L)  integers from 0 to V - 1
        table  (V, D)
        out    (B, L, D)

    Raises TypeError and IndexError as ``check_ids``.

    Requirements: EMB-ROW-1 and others.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.4.
    """
    check_ids(ids, len(table))
    return rows(ids, keep_from_training(table, padding_id))


def scale(x: Tensor) -> Tensor:
    """Return √D · x.

    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.4.
    """
    return x * math.sqrt(x.shape[-1])


def token_attention(ids: Tensor, weights: Mapping[str, Tensor], num_heads: int, mask: Tensor | None) -> Tensor:
    """Return what tokens attend to: ids, embedding, sinusoidal positions, multi-head self-attention.

    Shapes:
        ids      (B, L)
        weights  table.weight (V, D), and those of multi-head attention under attn.
        mask     broadcastable to (B, H, L, L), bool, True = may attend
        out      (B, L, D)
    """
    x = sinusoidal(embed(ids, weights["table.weight"]))
    own = {name.removeprefix("attn."): w for name, w in weights.items() if name.startswith("attn.")}
    out, _ = multi_head_attention(x, x, x, own, num_heads, mask)
    return out
