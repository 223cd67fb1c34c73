"""Ways to get encoder, decoder and Transformer together wrong: training."""

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.transformer.mutants.shared import placing, scaled_rows
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import decoder as decoders
from attnconf.reference import encoder as encoders
from attnconf.reference import sinusoidal, token_embedding, transformer
from attnconf.reference.attention import drop
from attnconf.reference.encoder import under

memory_detached = Mutant(
    "TRF-memory-detached",
    story="no gradient flows from the decoder into the encoder",
    breaks={"TRF-GRAD-1"},
    hint="no detach and no no_grad around the encoder, unless it is frozen on purpose",
    replace={
        transformer.decode: lambda target, memory, weights, style, mask, memory_mask: decoders.decoder(
            target, memory.detach(), under(weights, "decoder"), style, mask, memory_mask
        ),
    },
)

vectors_detached = Mutant(
    "TRF-vectors-detached",
    story="the tables do not learn",
    breaks={"TRF-GRAD-1"},
    hint="no .data, no numpy between ids and vectors",
    replace={transformer.place: placing(row_of=lambda ids, table: token_embedding.embed(ids, table).detach())},
)

dropout_always = Mutant(
    "TRF-dropout-always",
    story="dropout goes on in evaluation",
    breaks={"TRF-DROP-1"},
    hint="call eval(), and pass training=self.training to functions",
    replace={
        adapter.style_of: lambda config: encoders.Style(
            config.num_heads,
            config.norm_first,
            config.norm,
            config.eps,
            config.activation,
            config.dropout,
            adapter.divisor_of(config),
            config.rms_eps,
        ),
    },
    source="nanoGPT PR #240",
)


def dropped_early(ids, table, dropout):
    return sinusoidal.sinusoidal(drop(scaled_rows(ids, table), dropout))


positions_undropped = Mutant(
    "TRF-positions-undropped",
    story="dropout comes before positions are added",
    breaks={"TRF-DROP-2"},
    hint="drop the sum of row and position",
    replace={transformer.place: dropped_early},
)

residual_dropped = Mutant(
    "TRF-residual-dropped",
    story="dropout is applied to the targets' vectors within the decoder as well",
    breaks={"TRF-DROP-2"},
    hint="drop what is added to the residual, not the residual",
    replace={
        transformer.decode: lambda target, memory, weights, style, mask, memory_mask: decoders.decoder(
            drop(target, style.dropout), memory, under(weights, "decoder"), style, mask, memory_mask
        ),
    },
    silent_on={"transformer": "with dropout 1 the targets' vectors are zeros already"},
)
