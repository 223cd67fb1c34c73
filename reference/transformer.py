"""The Transformer: an encoder, and a decoder that reads what the encoder made of the source.

Symbols as in spec/transformer.md: B batch, S source tokens, L target tokens, E width of the model, V ids in the
vocabulary.
"""

from torch import Tensor

from attnconf.reference.attention import drop
from attnconf.reference.decoder import decoder
from attnconf.reference.encoder import Style, Weights, encoder, under
from attnconf.reference.masks import causal, key_padding
from attnconf.reference.sinusoidal import sinusoidal
from attnconf.reference.token_embedding import embed, scale


def padding(mask: Tensor | None) -> Tensor | None:
    """Return a padding mask, (B, T), as one for attention, (B, 1, 1, T): no query may look at a padded key.

    Requirements: TRF-PAD-1, TRF-PAD-2.
    """
    return None if mask is None else key_padding(mask)


def earlier(target: Tensor, mask: Tensor | None) -> Tensor:
    """Return which targets a target may look at: itself and those before it, without padding.

    Shapes:
        target  (B, L, E)
        mask    (B, L)     bool, True = a token, or None
        out     broadcastable to (B, H, L, L)

    Requirements: TRF-CAUSAL-1, TRF-CAUSAL-2, TRF-PAD-3.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.3.
    """
    before = causal(target.shape[1], target.shape[1]).to(target.device)  # (L, L)
    return before if mask is None else before & key_padding(mask)  # (L, L) & (B, 1, 1, L) -> (B, 1, L, L)


def encode(source: Tensor, weights: Weights, style: Style, mask: Tensor | None) -> Tensor:
    """Return the memory, (B, S, E): what the encoder makes of the source, after its last norm where it has one."""
    return encoder(source, under(weights, "encoder"), style, mask)


def decode(
    target: Tensor, memory: Tensor, weights: Weights, style: Style, mask: Tensor, memory_mask: Tensor | None
) -> Tensor:
    """Return the decoder's output, (B, L, E): all its layers read one memory.

    Requirements: TRF-MEMORY-1, TRF-MEMORY-2, TRF-MEMORY-3.
    """
    return decoder(target, memory, under(weights, "decoder"), style, mask, memory_mask)


def encoder_decoder(
    source: Tensor, target: Tensor, weights: Weights, style: Style,
    source_mask: Tensor | None = None, target_mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Return the decoder's output; the encoder is run once, and its padding stays hidden from the decoder.

    Shapes:
        source       (B, S, E)
        target       (B, L, E)
        weights      encoder.*, decoder.*
        source_mask  (B, S), bool, True = a token, False = padding
        target_mask  (B, L), likewise
        out          (B, L, E)

    Raises KeyError where a weight is missing, RuntimeError or ValueError where shapes do not fit.

    Requirements: TRF-ORACLE-1.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.1 and figure 1.
    """
    hidden = padding(source_mask)
    memory = encode(source, weights, style, hidden)  # (B, S, E)
    return decode(target, memory, weights, style, earlier(target, target_mask), hidden)


def tables(weights: Weights) -> tuple[Tensor, Tensor, Tensor]:
    """Return the tables of the source, of the target and of the head: what is missing is tied to the target's.

    Requirements: TRF-ROW-1, TRF-ROW-2, TRF-TIE-1, TRF-TIE-2.
    Source: Vaswani et al. 2017, section 3.4; Press and Wolf 2017, arXiv:1608.05859v3, section 3.
    """
    target = weights["target.weight"]
    return weights.get("source.weight", target), target, weights.get("head.weight", target)


def place(ids: Tensor, table: Tensor, dropout: float) -> Tensor:
    """Return the vectors of tokens at their positions: rows times √E, then positions, then dropout.

    Shapes:
        ids    (B, T)
        table  (V, E)
        out    (B, T, E)

    Raises TypeError where ids are no integers, IndexError where there is no such row.

    Requirements: TRF-ROW-1, TRF-ROW-2, TRF-IDS-1, TRF-IDS-3, TRF-POS-1, TRF-SCALE-1.
    Source: Vaswani et al. 2017, sections 3.4, 3.5 and 5.4.
    """
    return drop(sinusoidal(scale(embed(ids, table))), dropout)


def logits(x: Tensor, table: Tensor) -> Tensor:
    """Return an inner product for each id: (B, L, E) and (V, E) to (B, L, V). No softmax: the loss has one.

    Requirements: TRF-HEAD-1.
    """
    return x @ table.T  # (B, L, E) (E, V) -> (B, L, V)


def transformer(
    source: Tensor, target: Tensor, weights: Weights, style: Style,
    source_mask: Tensor | None = None, target_mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Return the logits of the token that follows each target token.

    Shapes:
        source, target           (B, S), (B, L), ids
        weights                  encoder.*, decoder.*, target.weight (V, E) and, where not tied, source.weight,
                                 head.weight (V, E)
        source_mask, target_mask (B, S), (B, L), bool, True = a token, False = padding
        out                      (B, L, V)

    Raises as ``place`` and ``encoder_decoder``.

    Requirements: TRF-ORACLE-2.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, sections 3.1, 3.4 and 3.5.
    """
    source_table, target_table, head = tables(weights)
    x, y = place(source, source_table, style.dropout), place(target, target_table, style.dropout)
    return logits(encoder_decoder(x, y, weights, style, source_mask, target_mask), head)
