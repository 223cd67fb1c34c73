"""Ways to get encoder, decoder and Transformer together wrong: padding."""

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import decoder as decoders
from attnconf.reference import encoder as encoders
from attnconf.reference import transformer
from attnconf.reference.encoder import count_layers, normed, under
from attnconf.reference.masks import causal, key_padding

padding_ignored = Mutant(
    "TRF-padding-ignored",
    story="the source's padding mask is ignored",
    breaks={"TRF-PAD-1"},
    hint="hide padding in the encoder and from the decoder",
    replace={transformer.padding: lambda mask: None},
    source="FasterTransformer#270",
)

padding_inverted = Mutant(
    "TRF-padding-inverted",
    story="padding is what is seen, and tokens are hidden",
    breaks={"TRF-PAD-1"},
    hint="here True is a token; nn.Transformer wants ~mask",
    replace={transformer.padding: lambda mask: None if mask is None else ~key_padding(mask)},
    source="pytorch#33763",
)

memory_unmasked = Mutant(
    "TRF-memory-unmasked",
    story="padding is hidden in the encoder, but the decoder sees it",
    breaks={"TRF-PAD-1"},
    hint="pass the source's mask to the decoder as well: memory_key_padding_mask",
    replace={
        transformer.decode: lambda target, memory, weights, style, mask, memory_mask: decoders.decoder(
            target, memory, under(weights, "decoder"), style, mask, None
        ),
    },
    source="FasterTransformer#270",
)

encoder_unmasked = Mutant(
    "TRF-encoder-unmasked",
    story="padding is hidden from the decoder, but source tokens see it",
    breaks={"TRF-PAD-1"},
    hint="pass the source's mask to the encoder as well: src_key_padding_mask",
    replace={
        transformer.encode: lambda source, weights, style, mask: encoders.encoder(
            source, under(weights, "encoder"), style, None
        ),
    },
)


def masked_once(source, weights, style, mask):
    own = under(weights, "encoder")
    for i in range(count_layers(own)):
        source = encoders.encoder_layer(source, under(own, f"layers.{i}"), style, None if i else mask)
    return normed(source, own, "norm", style) if "norm.weight" in own else source


masked_in_first_layer = Mutant(
    "TRF-masked-in-first-layer",
    story="the padding mask reaches the first encoder layer only",
    breaks={"TRF-PAD-1"},
    hint="pass the mask to every layer",
    replace={transformer.encode: masked_once},
)


def crossed(source, target, weights, style, source_mask, target_mask):
    hidden = transformer.padding(source_mask)
    memory = transformer.encode(source, weights, style, hidden)
    fits = target_mask is not None and source.shape[1] == target.shape[1]
    across = transformer.padding(target_mask) if fits else hidden
    return transformer.decode(target, memory, weights, style, transformer.earlier(target, target_mask), across)


masks_crossed = Mutant(
    "TRF-masks-crossed",
    story="where lengths are equal, the target's padding mask hides the memory",
    breaks={"TRF-PAD-3"},
    hint="the mask of attention to the memory is the source's",
    replace={transformer.encoder_decoder: crossed},
)


def zeroed(source, target, weights, style, source_mask, target_mask):
    kept = 1.0 if source_mask is None else source_mask[..., None]
    memory = kept * transformer.encode(source * kept, weights, style, None)
    return transformer.decode(target, memory, weights, style, transformer.earlier(target, target_mask), None)


padding_zeroed = Mutant(
    "TRF-padding-zeroed",
    story="padding is replaced by zeros, which still get attention",
    breaks={"TRF-PAD-2"},
    hint="hide keys in the softmax: a score of -inf, not a vector of zeros",
    replace={transformer.encoder_decoder: zeroed},
)

target_padding_ignored = Mutant(
    "TRF-target-padding-ignored",
    story="the target's padding mask is ignored",
    breaks={"TRF-PAD-3"},
    hint="join it with the causal mask",
    replace={transformer.earlier: lambda target, mask: causal(target.shape[1], target.shape[1])},
)
