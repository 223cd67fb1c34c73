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
    """Raise TypeError where ids (...) are no integers, IndexError where there is no such row.

    Said explicitly because indexing would take -1 for the last row, silently, and True and False for a mask.

    Requirements: EMB-BEYOND-1, EMB-NEG-1, EMB-FLOAT-1, EMB-BOOL-1.
    """
    if ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool:
        raise TypeError(f"ids are {ids.dtype}, want integers")
    if ids.numel() and (int(ids.min()) < 0 or int(ids.max()) >= size):
        raise IndexError(f"ids from {int(ids.min())} to {int(ids.max())}, want 0 to {size - 1}")


def rows(ids: Tensor, table: Tensor) -> Tensor:
    """Return the rows of the table. The gradient of a row is the sum over all tokens that used it.

    Shapes:
        ids    (B, L)     from 0 to V - 1
        table  (V, D)
        out    (B, L, D)

    As int64, because indexing takes uint8 for a mask.

    Requirements: EMB-ROW-1, EMB-GRAD-1, EMB-GRAD-2, EMB-GRAD-3.
    """
    return table[ids.long()]  # (B, L, D)


def keep_from_training(table: Tensor, padding_id: int | None) -> Tensor:
    """Return the table (V, D), through whose row ``padding_id`` no gradient flows.

    Requirements: EMB-PAD-1, EMB-PAD-2, EMB-PAD-3 (declares: stored).
    """
    if padding_id is None:
        return table
    frozen = torch.arange(len(table), device=table.device) == padding_id  # (V,)
    return torch.where(frozen[:, None], table.detach(), table)


def embed(ids: Tensor, table: Tensor, padding_id: int | None = None) -> Tensor:
    """Return the vectors of tokens.

    Shapes:
        ids    (B, L)     integers from 0 to V - 1
        table  (V, D)
        out    (B, L, D)

    Raises TypeError where ids are no integers, IndexError where there is no such row.

    Requirements: the chapter's first component (declares: none).
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.4.
    """
    check_ids(ids, len(table))
    return rows(ids, keep_from_training(table, padding_id))


def scale(x: Tensor) -> Tensor:
    """Return √D · x, where a model declares it.

    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.4.
    """
    return x * math.sqrt(x.shape[-1])


def place(x: Tensor) -> Tensor:
    """Return x (B, L, D) with the sinusoidal encoding of its tokens' positions, 0, 1, …, added.

    Requirements: EMB-POS-1, EMB-ORDER-1.
    """
    return sinusoidal(x)


def look_around(x: Tensor, weights: Mapping[str, Tensor], num_heads: int, mask: Tensor | None) -> Tensor:
    """Return multi-head self-attention over x (B, L, D), with the weights that stand under ``attn.``.

    Requirements: EMB-SEEN-1, EMB-SAMPLE-1, EMB-CAUSAL-1, EMB-MASK-1.
    """
    own = {name.removeprefix("attn."): w for name, w in weights.items() if name.startswith("attn.")}
    return multi_head_attention(x, x, x, own, num_heads, mask)[0]


def token_attention(
    ids: Tensor, weights: Mapping[str, Tensor], num_heads: int, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    """Return what tokens attend to: ids, embedding, sinusoidal positions, multi-head self-attention.

    Shapes:
        ids      (B, L)
        weights  table.weight (V, D), and those of multi-head attention under attn.
        mask     broadcastable to (B, H, L, L), bool, True = may attend
        out      (B, L, D)

    Raises TypeError and IndexError as ``embed``; ValueError where D is not a multiple of ``num_heads``.

    Requirements: the chapter's second component (EMB-ORACLE-1).
    """
    return look_around(place(embed(ids, weights["table.weight"])), weights, num_heads, mask)
