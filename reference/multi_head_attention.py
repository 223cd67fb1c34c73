"""Multi-head attention: project, split into heads, attend in each, merge, project.

Symbols as in spec/multi_head_attention.md: B batch, L queries, S keys, H heads, D width of one head,
E width of the queries' input, Ek and Ev of the keys' and values', O of the output.
"""

from collections.abc import Mapping

from torch import Tensor

from attnconf.reference.attention import attend


def project(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return x Wᵀ + b.

    Shapes:
        x       (B, T, I)
        weight  (O, I)      as torch.nn.Linear stores it
        bias    (O,) or None
        out     (B, T, O)
    """
    y = x @ weight.T  # (B, T, I) (I, O) -> (B, T, O)
    return y if bias is None else y + bias


def project_query(query: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    """Return the queries of all heads, (B, L, H·D)."""
    return project(query, weights["q.weight"], weights.get("q.bias"))


def project_key(key: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    """Return the keys of all heads, (B, S, H·D)."""
    return project(key, weights["k.weight"], weights.get("k.bias"))


def project_value(value: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    """Return the values of all heads, (B, S, H·D)."""
    return project(value, weights["v.weight"], weights.get("v.bias"))


def project_out(context: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    """Return the output, (B, L, O), from the merged heads, (B, L, H·D)."""
    return project(context, weights["out.weight"], weights.get("out.bias"))


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Return the heads apart: head h is the slice h·D … (h+1)·D of the last axis.

    Shapes:
        x    (B, T, H·D)
        out  (B, H, T, D)

    Raises ValueError if the width is not a multiple of ``num_heads``.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.2 (the concatenation, read backwards).
    """
    if x.shape[-1] % num_heads:
        raise ValueError(f"a width of {x.shape[-1]} cannot be split into {num_heads} equal heads")
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)  # (B, T, H·D) -> (B, T, H, D) -> (B, H, T, D)


def merge_heads(x: Tensor) -> Tensor:
    """Return the heads side by side again: first move them next to their slice, then flatten.

    Shapes:
        x    (B, H, T, D)
        out  (B, T, H·D)

    Requirements: CALL-LAYOUT-1: flatten copies where the heads lie apart in memory, and view would raise.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.2, Concat(head_1, …, head_h).
    """
    return x.transpose(1, 2).flatten(2)  # (B, H, T, D) -> (B, T, H, D) -> (B, T, H·D)


def multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    weights: Mapping[str, Tensor],
    num_heads: int,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    dropout: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Return (output, attention weights).

    Shapes:
        query    (B, L, E)
        key      (B, S, Ek)
        value    (B, S, Ev)
        weights  q.weight (H·D, E), k.weight (H·D, Ek), v.weight (H·D, Ev), out.weight (O, H·D),
                 and, or not at all, q.bias, k.bias, v.bias (H·D,), out.bias (O,)
        mask     broadcastable to (B, H, L, S), bool, True = may attend
        bias     broadcastable to (B, H, L, S), float
        output   (B, L, O)
        attention weights (B, H, L, S)

    ``dropout`` is a probability; pass 0 outside training.
    Raises ValueError or RuntimeError where the shapes do not fit.

    Requirements: the whole chapter (MHA-ORACLE-1).
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.2.
    """
    q = split_heads(project_query(query, weights), num_heads)  # (B, H, L, D)
    k = split_heads(project_key(key, weights), num_heads)  # (B, H, S, D)
    v = split_heads(project_value(value, weights), num_heads)  # (B, H, S, D)
    context, attention = attend(q, k, v, mask=mask, bias=bias, dropout=dropout)  # (B, H, L, D), (B, H, L, S)
    return project_out(merge_heads(context), weights), attention  # (B, L, O), (B, H, L, S)
