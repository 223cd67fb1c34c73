"""The Transformer: an encoder, and a decoder that reads what the encoder made of the source.

Symbols as in spec/transformer.md: B batch, S source tokens, L target tokens, E width of the model, V vocabulary.
"""

from torch import Tensor

from attnconf.reference.attention import drop
from attnconf.reference.decoder import decoder
from attnconf.reference.encoder import Style, Weights, encoder, under
from attnconf.reference.masks import causal, key_padding
from attnconf.reference.sinusoidal import sinusoidal
from attnconf.reference.token_embedding import embed, scale


def padding(mask: Tensor | None) -> Tensor | None:
    """Return a padding mask, (B, S), as one for attention, (B, 1, 1, S)."""
    return None if mask is None else key_padding(mask)


def encoder_decoder(
    source: Tensor, target: Tensor, weights: Weights, style: Style,
    source_mask: Tensor | None = None, target_mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Return the decoder's output.

    Shapes:
        source       (B, S, E)
        target       (B, L, E)
        weights      encoder.*, decoder.*
        source_mask  (B, S), bool, True = a token, False = padding; hides keys in the encoder and in the memory
        target_mask  (B, L)
        out          (B, L, E)

    Requirements: TRF-ORACLE-1.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.1.
    """
    hidden = padding(source_mask)
    memory = encoder(source, under(weights, "encoder"), style, hidden)
    earlier = causal(target.shape[1], target.shape[1]).to(target.device)
    seen = earlier if target_mask is None else earlier & key_padding(target_mask)
    return decoder(target, memory, under(weights, "decoder"), style, seen, hidden)


def tables(weights: Weights) -> tuple[Tensor, Tensor, Tensor]:
    """Return the tables of the source, of the target and of the head, which may be one: what is missing is tied."""
    target = weights["target.weight"]
    return weights.get("source.weight", target), target, weights.get("head.weight", target)


def place(ids: Tensor, table: Tensor, dropout: float) -> Tensor:
    """Return the vectors of tokens at their positions: rows times √E, then positions, then dropout."""
    return drop(sinusoidal(scale(embed(ids, table))), dropout)


def logits(x: Tensor, table: Tensor) -> Tensor:
    """Return a number for each id, (B, L, V): no softmax."""
    return x @ table.T


def transformer(
    source: Tensor, target: Tensor, weights: Weights, style: Style,
    source_mask: Tensor | None = None, target_mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Return the logits of the token that follows each target token.

    Shapes:
        source, target           (B, S), (B, L), ids
        weights                  encoder.*, decoder.*, target.weight (V, E) and, where not tied, source.weight,
                                 head.weight (V, E)
        source_mask, target_mask (B, S), (B, L)
        out                      (B, L, V)

    Requirements: TRF-ORACLE-2.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, sections 3.1, 3.4 and 3.5.
    """
    source_table, target_table, head = tables(weights)
    x, y = place(source, source_table, style.dropout), place(target, target_table, style.dropout)
    return logits(encoder_decoder(x, y, weights, style, source_mask, target_mask), head)
