"""Ways to get encoder, decoder and Transformer together wrong: layers and norms."""

import torch

from attnconf.conformance.chapters.transformer.mutants.shared import layer_by_layer
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import decoder as decoders
from attnconf.reference import transformer
from attnconf.reference.encoder import count_layers, normed, under

as_many_layers = Mutant(
    "TRF-as-many-layers",
    story="the decoder has no more layers than the encoder",
    breaks={"TRF-LAYERS-1"},
    hint="two numbers: num_encoder_layers and num_decoder_layers",
    replace={
        transformer.decode: layer_by_layer(
            layers_of=lambda n, weights: range(min(n, count_layers(under(weights, "encoder"))))
        ),
    },
)

one_layer_shared = Mutant(
    "TRF-one-layer-shared",
    story="one decoder layer is applied again and again",
    breaks={"TRF-LAYERS-1"},
    hint="[Layer() for _ in range(n)], not [Layer()] * n",
    replace={
        transformer.decode: layer_by_layer(weights_of=lambda i, n, weights: under(weights, "decoder.layers.0")),
    },
    source="encodecmae#3, espnet#1278",
)


def with_encoders_network(i, n, weights):
    own = under(weights, f"decoder.layers.{i}")
    return {**own, **{name: w for name, w in under(weights, "encoder.layers.0").items() if name.startswith("ff.")}}


network_shared = Mutant(
    "TRF-network-shared",
    story="decoder layers use the feed-forward network of the encoder",
    breaks={"TRF-LAYERS-1"},
    hint="every layer has a network of its own",
    replace={transformer.decode: layer_by_layer(weights_of=with_encoders_network)},
)


def ending(norm_of):
    """Return a decode that ends in ``norm_of(x, weights, style)`` where the weights have a last norm."""

    def decode(target, memory, weights, style, mask, memory_mask):
        own = {name: w for name, w in under(weights, "decoder").items() if not name.startswith("norm.")}
        x = decoders.decoder(target, memory, own, style, mask, memory_mask)
        return norm_of(x, weights, style)

    return decode


final_norm_missing = Mutant(
    "TRF-final-norm-missing",
    story="the decoder's last norm is left out",
    breaks={"TRF-FINAL-1"},
    hint="a pre-norm stack ends in a norm",
    replace={transformer.decode: ending(lambda x, weights, style: x)},
    source="facebookresearch/xformers#665",
)

norm_shared = Mutant(
    "TRF-norm-shared",
    story="encoder and decoder share the encoder's last norm",
    breaks={"TRF-FINAL-1"},
    hint="two norms, each with weights of its own",
    replace={
        transformer.decode: ending(
            lambda x, weights, style: (
                normed(x, weights, "encoder.norm", style) if "decoder.norm.weight" in weights else x
            )
        ),
    },
)


def once_or_bare(x, weights, style):
    if "decoder.norm.weight" in weights:
        return normed(x, weights, "decoder.norm", style)
    return torch.nn.functional.layer_norm(x, x.shape[-1:])


always_normed = Mutant(
    "TRF-always-normed",
    story="the decoder's output is normalized where it has no last norm, too",
    breaks={"TRF-FINAL-2"},
    hint='follow final_norm, or declare final-norm = "always"',
    replace={transformer.decode: ending(once_or_bare)},
    source="annotated-transformer#92",
)
