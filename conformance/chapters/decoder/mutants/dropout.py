"""Ways to get decoder layers, and stacks of them, wrong: dropout."""

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.decoder.mutants.shared import LAYERS, attend, look, normed, think
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention, encoder
from attnconf.reference import multi_head_attention as mha

drops_always = Mutant(
    "DEC-drops-always",
    story="dropout goes on in evaluation",
    breaks={"DEC-DROP-1"},
    hint="F.dropout drops by default: give it training=self.training",
    replace={adapter.active_dropout: lambda config: config.dropout},
    source="nanoGPT#240",
)


def pre_dropping_all(x, memory, weights, style, mask, memory_mask):
    h = attention.drop(x + attend(normed(x, weights, "norm1", style), weights, style, mask), style.dropout)
    h = h + look(normed(h, weights, "norm2", style), memory, weights, style, memory_mask)
    return h + think(normed(h, weights, "norm3", style), weights, style)


residual_dropped = Mutant(
    "DEC-residual-dropped",
    story="dropout falls on the sum, and so on the residual",
    breaks={"DEC-DROP-2"},
    hint="x + dropout(f(x))",
    replace={LAYERS["pre"]: pre_dropping_all},
)


def look_without_dropout(x, memory, weights, style, mask):
    out, _ = mha.multi_head_attention(
        x, memory, memory, encoder.under(weights, "cross"), style.num_heads, mask, dropout=style.dropout
    )
    return out


cross_not_dropped = Mutant(
    "DEC-cross-not-dropped",
    story="what comes from the memory is added without dropout",
    breaks={"DEC-DROP-2"},
    hint="dropout on each of the three sublayers, before its residual",
    replace={look: look_without_dropout},
)
