"""Ways to get encoder, decoder and Transformer together wrong: the reference with one function replaced."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import CONSTANT, NUMBERS, ZERO_APART, Vacuous
from attnconf.reference import decoder as decoders
from attnconf.reference import encoder as encoders
from attnconf.reference import sinusoidal, token_embedding, transformer
from attnconf.reference.attention import drop
from attnconf.reference.encoder import count_layers, normed, under
from attnconf.reference.masks import causal, key_padding

# -- the call

last_only = Mutant(
    "TRF-last-only",
    story="only the output of the last target comes back",
    breaks={"CALL-SHAPE-1"},
    hint="return all outputs: who decodes takes the last, who trains needs them all",
    replace={
        transformer.decode: lambda target, memory, weights, style, mask, memory_mask: decoders.decoder(
            target, memory, under(weights, "decoder"), style, mask, memory_mask
        )[:, -1:],
    },
)


def filled(target, memory, weights, style, mask, memory_mask):
    torch.zeros_like(target[:1, :1, 0]).masked_fill(mask[:1, :1], -1e9)  # what it does to the scores
    return decoders.decoder(target, memory, under(weights, "decoder"), style, mask, memory_mask)


fill_too_large = Mutant(
    "TRF-fill-too-large",
    story="hidden scores become -1e9, a number that float16 does not have",
    breaks={"TRF-HALF-2"},
    hint='fill with float("-inf")',
    replace={transformer.decode: filled},
    raises={"TRF-HALF-2"},
    source="transformers#17306; apex#93",
)


def blanking(build):
    def component(config, weights):
        forward = build(config, weights)

        def blanked(source, target, *, source_mask=None, target_mask=None):
            if source_mask is not None and not source.requires_grad:
                source[~source_mask] = 0
            return forward(source, target, source_mask=source_mask, target_mask=target_mask)

        return blanked

    return component


padding_overwritten = Mutant(
    "TRF-padding-overwritten",
    story="padding is overwritten by zeros in the caller's source",
    breaks={"CALL-IMMUT-1"},
    hint="mask a copy, or only the scores",
    replace={
        adapter.encoder_decoder: blanking(adapter.encoder_decoder),
        adapter.transformer: blanking(adapter.transformer),
    },
)


def decoded(source, target, weights, style, source_mask, target_mask, memory):
    """Return the decoder's output for vectors, and a memory that is given or else made of the source."""
    hidden = transformer.padding(source_mask)
    memory = transformer.encode(source, weights, style, hidden) if memory is None else memory
    return memory, transformer.decode(target, memory, weights, style, transformer.earlier(target, target_mask), hidden)


def keeping_vectors(config, weights):
    kept = [None]

    def forward(source, target, *, source_mask=None, target_mask=None):
        kept[0], out = decoded(source, target, weights, adapter.style_of(config), source_mask, target_mask, kept[0])
        return out

    return forward


def keeping_ids(config, weights):
    kept = [None]

    def forward(source, target, *, source_mask=None, target_mask=None):
        style, (first, second, head) = adapter.style_of(config), transformer.tables(weights)
        x, y = transformer.place(source, first, style.dropout), transformer.place(target, second, style.dropout)
        kept[0], h = decoded(x, y, weights, style, source_mask, target_mask, kept[0])
        return transformer.logits(h, head)

    return forward


memory_kept = Mutant(
    "TRF-memory-kept",
    story="the memory of the first source is kept for all that follow",
    breaks={"CALL-REPEAT-1"},
    hint="keep a memory for one source only: pass it along, do not store it in the model",
    replace={adapter.encoder_decoder: keeping_vectors, adapter.transformer: keeping_ids},
)


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


positions_go_on = Mutant(
    "TRF-positions-go-on",
    story="targets are counted on from call to call",
    breaks={"CALL-REPEAT-1"},
    hint="count from 0 in every call, or keep the count with the caller's cache",
    replace={
        adapter.transformer: with_positions(
            lambda x, config, target, seen: torch.arange(x.shape[1]) + (seen if target else 0)
        ),
    },
)

fast_path_unmasked = Mutant(
    "TRF-fast-path-unmasked",
    story="without gradients a faster path is taken, which forgets the source's padding",
    breaks={"CALL-MODE-1"},
    hint="every path takes the same masks",
    replace={
        transformer.padding: lambda mask: None if mask is None or not torch.is_grad_enabled() else key_padding(mask),
    },
    source="pytorch#86120",
)

neighbours_memory = Mutant(
    "TRF-neighbours-memory",
    story="every sample reads the memory of the sample before it",
    breaks={"TRF-BATCH-1"},
    hint="keep samples in one order when batches are sorted by length",
    replace={
        transformer.decode: lambda target, memory, weights, style, mask, memory_mask: decoders.decoder(
            target, memory.roll(1, dims=0), under(weights, "decoder"), style, mask,
            None if memory_mask is None else memory_mask.roll(1, dims=0),
        ),
    },
)  # fmt: skip


def packed(source, weights, style, mask):
    if not len(source):
        return source
    row = None if mask is None else mask.reshape(1, 1, 1, -1)
    return encoders.encoder(source.flatten(0, 1)[None], under(weights, "encoder"), style, row).view_as(source)


sources_packed = Mutant(
    "TRF-sources-packed",
    story="all sources are packed into one sequence, whose tokens all see one another",
    breaks={"TRF-BATCH-1"},
    hint="in a packed sequence tokens attend within their own sample only: a block-diagonal mask",
    replace={transformer.encode: packed},
    source="nanoVLM#204",
)

# -- which output reads what


def everywhere(target, mask):
    length = target.shape[1]
    seen = torch.ones(length, length, dtype=torch.bool, device=target.device)
    return seen if mask is None else seen & key_padding(mask)


sees_ahead = Mutant(
    "TRF-sees-ahead",
    story="targets see later targets",
    breaks={"TRF-CAUSAL-1"},
    hint="give the decoder a causal mask: it is not made by itself",
    replace={transformer.earlier: everywhere},
    source="pytorch/tutorials#719; causal-transformer-decoder#1",
)


def one_further(target, mask):
    seen = causal(target.shape[1], target.shape[1], 1)
    return seen if mask is None else seen & key_padding(mask)


one_ahead = Mutant(
    "TRF-one-ahead",
    story="every target sees the one after it",
    breaks={"TRF-CAUSAL-1"},
    hint="the diagonal is the last that is seen: torch.tril(ones), or hide torch.triu(ones, 1)",
    replace={transformer.earlier: one_further},
    source="attention-is-all-you-need-pytorch#19",
)


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


first_layer_causal = Mutant(
    "TRF-first-layer-causal",
    story="the causal mask reaches the first decoder layer only",
    breaks={"TRF-CAUSAL-1"},
    hint="pass the mask to every layer",
    replace={transformer.decode: layer_by_layer(mask_of=lambda i, mask: torch.ones_like(mask) if i else mask)},
)

centred_over_time = Mutant(
    "TRF-centred-over-time",
    story="the mean over all targets is subtracted from each",
    breaks={"TRF-CAUSAL-1"},
    hint="normalize over features; over tokens the later ones leak",
    replace={
        transformer.decode: lambda target, memory, weights, style, mask, memory_mask: decoders.decoder(
            target - target.mean(dim=1, keepdim=True), memory, under(weights, "decoder"), style, mask, memory_mask
        ),
    },
)

padding_instead = Mutant(
    "TRF-padding-instead",
    story="where targets are padded, the padding mask takes the place of the causal one",
    breaks={"TRF-CAUSAL-2"},
    hint="both hold: causal & padding",
    replace={
        transformer.earlier: lambda target, mask: (
            causal(target.shape[1], target.shape[1]) if mask is None else key_padding(mask)
        ),
    },
)


def windowed(width):
    """Return a causal mask through which only the last ``width`` targets are seen."""

    def earlier(target, mask):
        seen = causal(target.shape[1], target.shape[1]) & ~causal(target.shape[1], target.shape[1], -width)
        return seen if mask is None else seen & key_padding(mask)

    return earlier


only_itself = Mutant(
    "TRF-only-itself",
    story="a target sees itself and no other",
    breaks={"TRF-TARGET-1"},
    hint="the mask is a triangle, not its diagonal",
    replace={transformer.earlier: windowed(1)},
)

two_targets = Mutant(
    "TRF-two-targets",
    story="only the last two targets are seen",
    breaks={"TRF-TARGET-1"},
    hint="no window unless it is asked for",
    replace={transformer.earlier: windowed(2)},
)

counted_backwards = Mutant(
    "TRF-counted-backwards",
    story="positions are counted from the end, so that a token moves when one is added",
    breaks={"TRF-PREFIX-1", "TRF-POS-1"},
    hint="count from the beginning: 0, 1, 2, …",
    replace={
        adapter.transformer: with_positions(lambda x, config, target, seen: torch.arange(x.shape[1]).flip(0)),
    },
)


def causal_across(only_square):
    """Return a decode in which target i sees the memory up to token i."""

    def decode(target, memory, weights, style, mask, memory_mask):
        if not only_square or target.shape[1] == memory.shape[1]:
            seen = causal(target.shape[1], memory.shape[1])
            memory_mask = seen if memory_mask is None else seen & memory_mask
        return decoders.decoder(target, memory, under(weights, "decoder"), style, mask, memory_mask)

    return decode


memory_causal = Mutant(
    "TRF-memory-causal",
    story="a target sees the memory only up to its own place",
    breaks={"TRF-SOURCE-1"},
    hint="the causal mask is for targets among themselves; the source is there as a whole",
    replace={transformer.decode: causal_across(False)},
    source="TransformerEngine#629",
)

memory_causal_square = Mutant(
    "TRF-memory-causal-square",
    story="where source and target are equally long, the causal mask is applied to the memory too",
    breaks={"TRF-SOURCE-1"},
    hint="choose masks by what is attended to, not by shape",
    replace={transformer.decode: causal_across(True)},
    source="transformers#48172",
)

memory_ignored = Mutant(
    "TRF-memory-ignored",
    story="what should attend to the memory attends to the targets again",
    breaks={"TRF-SOURCE-1"},
    hint="keys and values come from the memory: attention(h, memory, memory)",
    replace={transformer.decode: layer_by_layer(memory_of=lambda i, n, x, memory, mask, memory_mask: (x, mask))},
)

one_vector = Mutant(
    "TRF-one-vector",
    story="the decoder gets the source's first vector only, as a summary",
    breaks={"TRF-SOURCE-1"},
    hint="attend to all of the memory",
    replace={
        transformer.decode: lambda target, memory, weights, style, mask, memory_mask: decoders.decoder(
            target, memory[:, :1], under(weights, "decoder"), style, mask,
            None if memory_mask is None else memory_mask[..., :1],
        ),
    },
)  # fmt: skip


def shortened(source, target, weights, style, source_mask, target_mask):
    length = target.shape[1]
    mask = None if source_mask is None else source_mask[:, :length]
    return transformer.encoder_decoder(source[:, :length], target, weights, style, mask, target_mask)


source_cut = Mutant(
    "TRF-source-cut",
    story="the source is cut off at the length of the target",
    breaks={"TRF-SOURCE-1"},
    hint="source and target have lengths of their own",
    replace={transformer.encoder_decoder: shortened},
)


def causally_encoded(source, weights, style, mask):
    seen = causal(source.shape[1], source.shape[1])
    return encoders.encoder(source, under(weights, "encoder"), style, seen if mask is None else seen & mask)


encoder_causal = Mutant(
    "TRF-encoder-causal",
    story="source tokens see only those before them",
    breaks={"TRF-ORDER-1", "TRF-ORACLE-2"},
    hint="no causal mask in the encoder: the whole source is known",
    replace={transformer.encode: causally_encoded},
)

positions_in_encoder = Mutant(
    "TRF-positions-in-encoder",
    story="the encoder adds positions, though its vectors have them already",
    breaks={"TRF-ORDER-1", "TRF-POS-1"},
    hint="add positions once, where ids become vectors",
    replace={
        transformer.encode: lambda source, weights, style, mask: encoders.encoder(
            sinusoidal.sinusoidal(source), under(weights, "encoder"), style, mask
        ),
    },
)

# -- the memory


def from_source(source, target, weights, style, source_mask, target_mask):
    hidden = transformer.padding(source_mask)
    return transformer.decode(target, source, weights, style, transformer.earlier(target, target_mask), hidden)


source_as_memory = Mutant(
    "TRF-source-as-memory",
    story="the decoder reads the source's vectors, not what the encoder makes of them",
    breaks={"TRF-MEMORY-1"},
    hint="memory = encoder(source); decoder(target, memory)",
    replace={transformer.encoder_decoder: from_source},
)


def first_layers(layers_of, norm=True):
    """Return an encode that runs the layers ``layers_of(n)``."""

    def encode(source, weights, style, mask):
        own = under(weights, "encoder")
        for i in layers_of(count_layers(own)):
            source = encoders.encoder_layer(source, under(own, f"layers.{i}"), style, mask)
        return normed(source, own, "norm", style) if norm and "norm.weight" in own else source

    return encode


first_as_memory = Mutant(
    "TRF-first-as-memory",
    story="the decoder reads the output of the first encoder layer",
    breaks={"TRF-MEMORY-1"},
    hint="the memory is what comes out of the last layer",
    replace={transformer.encode: first_layers(lambda n: range(1))},
)

one_encoder_layer_less = Mutant(
    "TRF-one-encoder-layer-less",
    story="the encoder's last layer is left out, unless it is the only one",
    breaks={"TRF-MEMORY-1"},
    hint="num_encoder_layers layers: range(n)",
    replace={transformer.encode: first_layers(lambda n: range(max(1, n - 1)))},
    source="continual-inference PR #70",
)

encoder_norm_missing = Mutant(
    "TRF-encoder-norm-missing",
    story="the memory is taken before the encoder's last norm",
    breaks={"TRF-MEMORY-1"},
    hint="a pre-norm encoder ends in a norm, and the memory comes after it",
    replace={transformer.encode: first_layers(range, norm=False)},
    source="pytorch#55270",
)

source_added = Mutant(
    "TRF-source-added",
    story="the source's vectors are added to the memory",
    breaks={"TRF-MEMORY-1"},
    hint="residuals stay within layers",
    replace={
        transformer.encode: lambda source, weights, style, mask: (
            source + encoders.encoder(source, under(weights, "encoder"), style, mask)
        ),
    },
)


def ladder(source, target, weights, style, source_mask, target_mask):
    hidden, seen = transformer.padding(source_mask), transformer.earlier(target, target_mask)
    n = count_layers(under(weights, "encoder"))

    def memory_of(i, m, x, memory, mask, memory_mask):
        if i >= n - 1:
            return memory, memory_mask
        return first_layers(lambda n: range(i + 1))(source, weights, style, hidden), memory_mask

    memory = transformer.encode(source, weights, style, hidden)
    return layer_by_layer(memory_of=memory_of)(target, memory, weights, style, seen, hidden)


layer_to_layer = Mutant(
    "TRF-layer-to-layer",
    story="decoder layer i reads the output of encoder layer i",
    breaks={"TRF-MEMORY-1"},
    hint="every decoder layer reads the output of the last encoder layer",
    replace={transformer.encoder_decoder: ladder},
)

first_layer_reads = Mutant(
    "TRF-first-layer-reads",
    story="only the first decoder layer reads the memory, the others read the targets again",
    breaks={"TRF-MEMORY-2"},
    hint="pass the memory to every layer",
    replace={
        transformer.decode: layer_by_layer(
            memory_of=lambda i, n, x, memory, mask, memory_mask: (x, mask) if i else (memory, memory_mask)
        ),
    },
)

last_layer_reads = Mutant(
    "TRF-last-layer-reads",
    story="only the last decoder layer reads the memory, the others read the targets again",
    breaks={"TRF-MEMORY-2"},
    hint="pass the memory to every layer",
    replace={
        transformer.decode: layer_by_layer(
            memory_of=lambda i, n, x, memory, mask, memory_mask: (x, mask) if i < n - 1 else (memory, memory_mask)
        ),
    },
)

memory_fades = Mutant(
    "TRF-memory-fades",
    story="every decoder layer reads a memory that the layer before has normalized once more",
    breaks={"TRF-MEMORY-3"},
    hint="the memory is not touched: all layers read the same",
    replace={
        transformer.decode: layer_by_layer(
            memory_of=lambda i, n, x, memory, mask, memory_mask: (
                torch.nn.functional.layer_norm(memory, memory.shape[-1:]) if i else memory, memory_mask
            )
        ),
    },
)  # fmt: skip

# -- layers and norms

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
    source="pytorch#55270",
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

# -- padding

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

# -- from ids to vectors


def in_tables(choose):
    """Return a tables whose source, target and head are chosen from those three."""
    return lambda weights: choose(*transformer.tables(weights))


tables_swapped = Mutant(
    "TRF-tables-swapped",
    story="source ids are looked up in the target's table, and target ids in the source's",
    breaks={"TRF-ROW-1"},
    hint="each language has its own table",
    replace={transformer.tables: in_tables(lambda source, target, head: (target, source, head))},
)

source_in_target_table = Mutant(
    "TRF-source-in-target-table",
    story="source ids are looked up in the target's table, though there is one for the source",
    breaks={"TRF-ROW-1"},
    hint="tie tables only where tying says so",
    replace={transformer.tables: in_tables(lambda source, target, head: (target, target, head))},
)

head_tied = Mutant(
    "TRF-head-tied",
    story="the head is the target's table, though there is one for the head",
    breaks={"TRF-ROW-1"},
    hint="tie tables only where tying says so",
    replace={transformer.tables: in_tables(lambda source, target, head: (source, target, target))},
)


def placing(row_of=None, x_of=None):
    """Return a place with other ids, or another way from rows to vectors."""

    def place(ids, table, dropout):
        rows = token_embedding.embed(ids, table) if row_of is None else row_of(ids, table)
        return drop(sinusoidal.sinusoidal(token_embedding.scale(rows)) if x_of is None else x_of(rows), dropout)

    return place


ids_clamped = Mutant(
    "TRF-ids-clamped",
    story="ids that are too large, or negative, get the nearest row",
    breaks={"TRF-IDS-1", "TRF-IDS-3"},
    hint="raise an error: the tokenizer and the table do not fit",
    replace={transformer.place: placing(row_of=lambda ids, table: table[ids.clamp(0, len(table) - 1)])},
)

ids_wrapped = Mutant(
    "TRF-ids-wrapped",
    story="negative ids take rows from the table's end",
    breaks={"TRF-IDS-3"},
    hint="indexing by -1 is the last row: use nn.Embedding, which raises",
    replace={transformer.place: placing(row_of=lambda ids, table: table[ids])},
)

zero_row = Mutant(
    "TRF-zero-row",
    story="id 0 counts as padding, and its row as zeros",
    breaks={"TRF-IDS-2"},
    hint="no padding_idx unless the caller gives one",
    replace={
        transformer.place: placing(row_of=lambda ids, table: token_embedding.embed(ids, table) * (ids != 0)[..., None]),
    },
)


def zero_hidden(source, target, weights, style, source_mask, target_mask):
    real = source != 0
    return transformer.transformer(
        source, target, weights, style, real if source_mask is None else real & source_mask, target_mask
    )


zero_is_padding = Mutant(
    "TRF-zero-is-padding",
    story="a mask is made of the ids: 0 is always padding",
    breaks={"TRF-IDS-2"},
    hint="which id is padding is the caller's affair: take masks, or the padding's id",
    replace={transformer.transformer: zero_hidden},
)

no_positions = Mutant(
    "TRF-no-positions",
    story="no positions are added",
    breaks={"TRF-POS-1"},
    hint="without positions a sentence is a bag of words",
    replace={transformer.place: placing(x_of=token_embedding.scale)},
)


def one_side(source_of=None, target_of=None):
    """Return a Transformer that places the source's ids, or the target's, by another function of ids and table."""

    def transformed(source, target, weights, style, source_mask, target_mask):
        first, second, head = transformer.tables(weights)
        x = transformer.place(source, first, style.dropout) if source_of is None else source_of(source, first, target)
        y = transformer.place(target, second, style.dropout) if target_of is None else target_of(target, second, source)
        x, y = (drop(z, style.dropout) for z in (x, y))
        return transformer.logits(transformer.encoder_decoder(x, y, weights, style, source_mask, target_mask), head)

    return transformed


def scaled_rows(ids, table):
    return token_embedding.scale(token_embedding.embed(ids, table))


source_without_positions = Mutant(
    "TRF-source-without-positions",
    story="positions are added to the target only",
    breaks={"TRF-POS-1"},
    hint="both inputs need positions",
    replace={transformer.transformer: one_side(source_of=lambda ids, table, other: scaled_rows(ids, table))},
)

target_goes_on = Mutant(
    "TRF-target-goes-on",
    story="the target's positions begin where the source's end",
    breaks={"TRF-POS-1"},
    hint="positions begin at 0 in both",
    replace={
        transformer.transformer: one_side(
            target_of=lambda ids, table, other: sinusoidal.sinusoidal(
                scaled_rows(ids, table), torch.arange(ids.shape[1]) + other.shape[1]
            )
        ),
    },
)

positions_twice = Mutant(
    "TRF-positions-twice",
    story="positions are added twice",
    breaks={"TRF-POS-1"},
    hint="an encoding that returns x + PE needs no x + around it",
    replace={
        transformer.place: placing(
            x_of=lambda rows: sinusoidal.sinusoidal(sinusoidal.sinusoidal(token_embedding.scale(rows)))
        ),
    },
)

positions_from_one = Mutant(
    "TRF-positions-from-one",
    story="the first position is 1",
    breaks={"TRF-POS-1"},
    hint="torch.arange(length)",
    replace={
        transformer.place: placing(
            x_of=lambda rows: sinusoidal.sinusoidal(token_embedding.scale(rows), torch.arange(rows.shape[1]) + 1)
        ),
    },
)

positions_scaled = Mutant(
    "TRF-positions-scaled",
    story="positions are multiplied by √E as well",
    breaks={"TRF-POS-1"},
    hint="√E · rows + positions: scale first",
    replace={transformer.place: placing(x_of=lambda rows: token_embedding.scale(sinusoidal.sinusoidal(rows)))},
)


def in_halves(rows):
    omega = sinusoidal.frequencies(rows.shape[-1], 10000.0)
    theta = sinusoidal.angles(torch.arange(rows.shape[1]), omega)
    encoded = torch.cat([theta.sin(), theta.cos()], dim=-1)[:, : rows.shape[-1]]
    return token_embedding.scale(rows) + encoded.to(rows.dtype)


undeclared_halves = Mutant(
    "TRF-undeclared-halves",
    story="all sines come before all cosines, and nobody says so",
    breaks={"TRF-POS-1"},
    hint='declare sinusoidal-layout = "halves"',
    replace={transformer.place: placing(x_of=in_halves)},
    source="tensor2tensor#177",
)

unscaled = Mutant(
    "TRF-unscaled",
    story="rows are not multiplied by √E, and nobody says so",
    breaks={"TRF-SCALE-1"},
    hint='multiply by √E, or declare transformer-scale = "none"',
    replace={transformer.place: placing(x_of=sinusoidal.sinusoidal)},
    source="attention-is-all-you-need-pytorch#138",
)

scaled_twice = Mutant(
    "TRF-scaled-twice",
    story="rows are multiplied by √E twice",
    breaks={"TRF-SCALE-1"},
    hint="once: in the embedding or in the model",
    replace={
        transformer.place: placing(
            x_of=lambda rows: sinusoidal.sinusoidal(token_embedding.scale(token_embedding.scale(rows)))
        ),
    },
)

scaled_down = Mutant(
    "TRF-scaled-down",
    story="rows are divided by √E",
    breaks={"TRF-SCALE-1"},
    hint="multiply: rows are small, positions are not",
    replace={
        transformer.place: placing(x_of=lambda rows: sinusoidal.sinusoidal(rows / rows.shape[-1] ** 0.5)),
    },
    source="pytorch/tutorials#2849, as a question",
)

source_unscaled = Mutant(
    "TRF-source-unscaled",
    story="rows are multiplied by √E in the target only",
    breaks={"TRF-SCALE-1"},
    hint="both inputs are scaled alike",
    replace={
        transformer.transformer: one_side(
            source_of=lambda ids, table, other: sinusoidal.sinusoidal(token_embedding.embed(ids, table))
        ),
    },
)

last_position_missing = Mutant(
    "TRF-last-position-missing",
    story="the table of positions is a row too short, and the last token gets the position before its own",
    breaks={"TRF-MAXLEN-1"},
    hint="max_len tokens have the positions 0 … max_len - 1",
    replace={
        adapter.transformer: with_positions(
            lambda x, config, target, seen: torch.arange(x.shape[1]).clamp(max=config.max_len - 2)
        ),
    },
)

# -- from vectors to logits

softmaxed = Mutant(
    "TRF-softmax",
    story="probabilities come out, not logits",
    breaks={"TRF-HEAD-1"},
    hint="leave the softmax to the loss: nn.functional.cross_entropy takes logits",
    replace={transformer.logits: lambda x, table: torch.softmax(x @ table.T, dim=-1)},
    source="CS336#37",
)

log_softmaxed = Mutant(
    "TRF-log-softmax",
    story="log-probabilities come out, not logits",
    breaks={"TRF-HEAD-1"},
    hint="leave the softmax to the loss",
    replace={transformer.logits: lambda x, table: torch.log_softmax(x @ table.T, dim=-1)},
    source="the Annotated Transformer, on purpose",
)

logits_scaled = Mutant(
    "TRF-logits-scaled",
    story="logits are divided by √E",
    breaks={"TRF-HEAD-1"},
    hint="the head is a product, without a factor",
    replace={transformer.logits: lambda x, table: x @ table.T / x.shape[-1] ** 0.5},
)


def tied_to_source(weights):
    source, target, head = transformer.tables(weights)
    return source, target, source if "head.weight" not in weights else head


head_of_source = Mutant(
    "TRF-head-of-source",
    story="the tied head is the source's table",
    breaks={"TRF-TIE-1"},
    hint="what comes out are ids of the target",
    replace={transformer.tables: tied_to_source},
)


def smaller_where_tied(weights):
    source, target, head = transformer.tables(weights)
    return source, target, head if "head.weight" in weights else head / head.shape[1] ** 0.5


tied_scaled = Mutant(
    "TRF-tied-scaled",
    story="logits are divided by √E where the head is tied",
    breaks={"TRF-TIE-1"},
    hint="tie the table as it is",
    replace={transformer.tables: smaller_where_tied},
    source="the T5 of transformers, on purpose",
)


def copied_where_tied(weights):
    source, target, head = transformer.tables(weights)
    return source, target, head if "head.weight" in weights else head.detach().clone()


tied_copy = Mutant(
    "TRF-tied-copy",
    story="the tied head is a copy of the table, through which no gradient reaches it",
    breaks={"TRF-TIE-2"},
    hint="one parameter, used twice: head.weight = embedding.weight, not .data or a clone",
    replace={transformer.tables: copied_where_tied},
)

# -- training

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
            config.num_heads, config.norm_first, config.norm, config.eps, config.activation, config.dropout
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

# -- half precision


def counted_in_half(ids, table, dropout):
    positions = torch.arange(ids.shape[1]).to(table.dtype)
    return drop(sinusoidal.sinusoidal(scaled_rows(ids, table), positions), dropout)


half_positions = Mutant(
    "TRF-half-positions",
    story="positions are counted in the dtype of the weights",
    breaks={"TRF-HALF-1"},
    hint="count in integers or float32, and round the encoding last",
    replace={transformer.place: counted_in_half},
    source="gpt-neox#1003, of rotary positions",
)


def rounded_memory(source, weights, style, mask):
    memory = encoders.encoder(source, under(weights, "encoder"), style, mask)
    return memory if memory.dtype == torch.float64 else memory.bfloat16().to(memory.dtype)


memory_rounded = Mutant(
    "TRF-memory-rounded",
    story="the memory is kept in bfloat16, whatever the weights are",
    breaks={"TRF-HALF-2"},
    hint="keep the memory in the dtype of the weights",
    replace={transformer.encode: rounded_memory},
)

# -- only seen in the whole

layers_reversed = Mutant(
    "TRF-layers-reversed",
    story="the encoder's layers are applied from the last to the first",
    breaks={"TRF-ORACLE-1", "TRF-ORACLE-2"},
    hint="layer 0 comes first",
    replace={transformer.encode: first_layers(lambda n: reversed(range(n)))},
)


def place_without_training_row_0(ids, table, dropout):
    kept = torch.where((torch.arange(len(table), device=table.device) == 0)[:, None], table.detach(), table)
    return transformer.place(ids, kept, dropout)


row_0_untrained = Mutant(
    "TRF-row-0-untrained",
    story="id 0 counts as padding: its row is used, and never learns",
    breaks={"TRF-IDS-2"},
    hint="no padding_idx=0 unless the caller says that id 0 is padding",
    replace={transformer.place: place_without_training_row_0},
)


# -- learning


def memory_cut_in_single(x, memory, weights, style, mask):
    out = decoders.attend_to_memory(x, memory, weights, style, mask)
    return out.detach() if x.dtype == torch.float32 else out


memory_cut = Mutant(
    "TRF-memory-cut",
    story="in float32 attention to the memory passes no gradient on, and is never trained",
    breaks={"TRF-LEARN-1"},
    hint="a fused kernel needs a backward pass in every dtype that it has a forward pass for",
    replace={decoders.attend_to_memory: memory_cut_in_single},
)

# -- what computes nothing passes by definition

VACUOUS = (
    Vacuous(
        NUMBERS,
        "TRF-ORDER-1 TRF-MEMORY-3 TRF-FINAL-2 TRF-PAD-1 TRF-PAD-2 TRF-MAXLEN-1 TRF-TIE-1 TRF-DROP-1",
        "the same sizes give the same numbers, whatever the weights, the sources, the masks or the mode",
    ),
    Vacuous(CONSTANT, "TRF-BATCH-1 TRF-PREFIX-1 TRF-PAD-3", "one number everywhere"),
    Vacuous(
        ("echo",),
        "TRF-PAD-3",
        "0, 1, 2, … are the same features apart, whatever the target",
        components=("encoder_decoder",),
    ),
    Vacuous(ZERO_APART, "TRF-CAUSAL-1 TRF-CAUSAL-2 TRF-MEMORY-1", "what depends on nothing does not on later targets"),
    Vacuous(("random",), "TRF-LAYERS-1", "no two calls agree, so every weight seems to matter"),
    Vacuous(
        ("random", "echo"), "TRF-TARGET-1 TRF-MEMORY-2", "numbers that differ between samples seem to tell them apart"
    ),
    Vacuous(("random",), "TRF-SOURCE-1", "numbers that differ between samples seem to tell them apart"),
    Vacuous(
        ("echo",),
        "TRF-SOURCE-1",
        "numbers that differ between samples seem to tell them apart",
        components=("transformer",),
    ),
)
