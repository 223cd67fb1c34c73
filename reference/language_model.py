"""The language model: ids go in, and at each of them a number for every id that may come next comes out.

Symbols as in spec/language_model.md: B batch, L ids, E width of the model, V ids in the vocabulary.
"""

from dataclasses import dataclass

from torch import Tensor

from attnconf.reference.attention import drop
from attnconf.reference.encoder import Style, Weights, encoder
from attnconf.reference.learned import learned
from attnconf.reference.masks import causal, key_padding
from attnconf.reference.sinusoidal import sinusoidal
from attnconf.reference.token_embedding import embed, scale


@dataclass(frozen=True)
class Frame:
    """What stands around the layers."""

    positions: str = "learned"  # added to the rows: learned, sinusoidal or none
    scaled: bool = False  # rows times √E, before positions are added
    softcap: float | None = None  # c: a logit s becomes c·tanh(s/c)


def rows_of(ids: Tensor, table: Tensor, scaled: bool) -> Tensor:
    """Return the rows of ids, (B, L) to (B, L, E), times √E where a model declares it.

    Raises TypeError where ids are no integers, IndexError where there is no such row.

    Requirements: LM-ROW-1, LM-ROW-2, LM-IDS-1, LM-IDS-2, LM-SCALE-1.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.4, for the factor.
    """
    rows = embed(ids, table)
    return scale(rows) if scaled else rows


def with_positions(x: Tensor, weights: Weights, positions: str) -> Tensor:
    """Return x, (B, L, E), with the encoding of the positions 0, 1, …, L - 1 added; x itself where none is.

    Raises IndexError where a learned table has fewer than L rows.

    Requirements: LM-POS-1, LM-MAXLEN-1.
    Source: Radford et al. 2018 (GPT), section 3.1, for the learned table; Vaswani et al. 2017, section 3.5.
    """
    if positions == "learned":
        return learned(x, weights["positions.weight"])
    return sinusoidal(x) if positions == "sinusoidal" else x


def place(ids: Tensor, weights: Weights, frame: Frame, dropout: float) -> Tensor:
    """Return the vectors of ids at their positions, (B, L, E), of which some are dropped in training."""
    x = rows_of(ids, weights["table.weight"], frame.scaled)
    return drop(with_positions(x, weights, frame.positions), dropout)


def earlier(ids: Tensor, mask: Tensor | None) -> Tensor:
    """Return which ids an id may look at: itself and those before it, without padding.

    Shapes:
        ids   (B, L)
        mask  (B, L)   bool, True = an id, False = padding; or None
        out   broadcastable to (B, H, L, L)

    Requirements: LM-CAUSAL-1, LM-CAUSAL-2, LM-PAD-1.
    Source: Radford et al. 2018 (GPT), section 3.1.
    """
    before = causal(ids.shape[1], ids.shape[1]).to(ids.device)  # (L, L)
    return before if mask is None else before & key_padding(mask)  # (L, L) & (B, 1, 1, L) -> (B, 1, L, L)


def through_layers(x: Tensor, weights: Weights, style: Style, mask: Tensor) -> Tensor:
    """Return what the layers, and the last norm where there is one, make of x: (B, L, E).

    Requirements: LM-LAYERS-1, LM-FINAL-1, LM-FINAL-2.
    Source: Radford et al. 2019 (GPT-2), section 2.3, for the last norm.
    """
    return encoder(x, weights, style, mask)


def head_of(weights: Weights) -> Tensor:
    """Return the rows of the head, (V, E): the table itself where the head has none of its own.

    Requirements: LM-TIE-1, LM-TIE-2.
    Source: Press and Wolf 2017, arXiv:1608.05859v3, section 3.
    """
    return weights.get("head.weight", weights["table.weight"])


def logits(h: Tensor, head: Tensor, bias: Tensor | None) -> Tensor:
    """Return an inner product for each id, plus its bias: (B, L, E) and (V, E) to (B, L, V). No softmax.

    Requirements: LM-HEAD-1, LM-HEAD-2.
    """
    out = h @ head.T  # (B, L, E) (E, V) -> (B, L, V)
    return out if bias is None else out + bias


def capped(out: Tensor, softcap: float | None) -> Tensor:
    """Return logits between -c and c: c·tanh(s/c), which is s where s is small; the logits themselves without a cap.

    Requirements: LM-CAP-1.
    Source: Gemma Team 2024, arXiv:2408.00118v3, section 2.
    """
    return out if softcap is None else softcap * (out / softcap).tanh()


def language_model(ids: Tensor, weights: Weights, style: Style, frame: Frame, mask: Tensor | None = None) -> Tensor:
    """Return the logits of the id that follows each id.

    Shapes:
        ids      (B, L)   integers from 0 to V - 1
        weights  table.weight (V, E), layers.*, norm.* of a last norm or not at all; positions.weight (N, E) where
                 positions are learned; head.weight (V, E) where the head is not tied; head.bias (V,) or not at all
        mask     (B, L)   bool, True = an id, False = padding
        out      (B, L, V)

    Raises as ``rows_of``, ``with_positions`` and ``encoder`` do.

    Requirements: LM-ORACLE-1.
    Source: Radford et al. 2018, section 3.1; Radford et al. 2019, section 2.3; Touvron et al. 2023 (Llama),
    arXiv:2302.13971v1, section 2.2, for rotary positions, RMS norms and gated networks.
    """
    x = place(ids, weights, frame, style.dropout)
    h = through_layers(x, weights, style, earlier(ids, mask))
    return capped(logits(h, head_of(weights), weights.get("head.bias")), frame.softcap)
