"""Ways to get encoder, decoder and Transformer together wrong: what the mutants of several sections use."""

from attnconf.adapters import reference as adapter
from attnconf.reference import decoder as decoders
from attnconf.reference import encoder as encoders
from attnconf.reference import sinusoidal, token_embedding, transformer
from attnconf.reference.attention import drop
from attnconf.reference.encoder import count_layers, normed, under


def with_positions(positions_of):
    """Return a Transformer whose tokens x stand at ``positions_of(x, config, target: bool, seen: int)``."""

    def component(config, weights):
        seen = [0]

        def placed(ids, table, target):
            x = token_embedding.scale(token_embedding.embed(ids, table))
            return sinusoidal.sinusoidal(x, positions_of(x, config, target, seen[0]))

        def forward(source, target, *, source_mask=None, target_mask=None):
            style, (first, second, head) = adapter.style_of(config), transformer.tables(weights)
            x, y = drop(placed(source, first, False), style.dropout), drop(placed(target, second, True), style.dropout)
            seen[0] += target.shape[1]
            return transformer.logits(transformer.encoder_decoder(x, y, weights, style, source_mask, target_mask), head)

        return forward

    return component


def layer_by_layer(mask_of=None, memory_of=None, weights_of=None, layers_of=None):
    """Return a decode whose layer i of n gets its mask, memory and weights from functions of what it would get."""

    def decode(target, memory, weights, style, mask, memory_mask):
        own, n = under(weights, "decoder"), count_layers(under(weights, "decoder"))
        x = target
        for i in layers_of(n, weights) if layers_of else range(n):
            read = (memory, memory_mask) if memory_of is None else memory_of(i, n, x, memory, mask, memory_mask)
            layer = under(own, f"layers.{i}") if weights_of is None else weights_of(i, n, weights)
            seen = mask if mask_of is None else mask_of(i, mask)
            x = decoders.decoder_layer(x, read[0], layer, style, seen, read[1])
        return normed(x, own, "norm", style) if "norm.weight" in own else x

    return decode


def first_layers(layers_of, norm=True):
    """Return an encode that runs the layers ``layers_of(n)``."""

    def encode(source, weights, style, mask):
        own = under(weights, "encoder")
        for i in layers_of(count_layers(own)):
            source = encoders.encoder_layer(source, under(own, f"layers.{i}"), style, mask)
        return normed(source, own, "norm", style) if norm and "norm.weight" in own else source

    return encode


def placing(row_of=None, x_of=None):
    """Return a place with other ids, or another way from rows to vectors."""

    def place(ids, table, dropout):
        rows = token_embedding.embed(ids, table) if row_of is None else row_of(ids, table)
        return drop(sinusoidal.sinusoidal(token_embedding.scale(rows)) if x_of is None else x_of(rows), dropout)

    return place


def scaled_rows(ids, table):
    return token_embedding.scale(token_embedding.embed(ids, table))
