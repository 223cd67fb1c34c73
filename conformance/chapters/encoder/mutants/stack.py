"""Ways to get the encoder wrong: a stack."""

from attnconf.conformance.chapters.encoder.mutants.shared import count, encode_once, in_layer, normed, under
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import encoder
from attnconf.reference.layer_norm import layer_norm


def ending(x, weights, style):
    return normed(x, weights, "norm", style) if "norm.weight" in weights else x


def mask_for_the_first(x, weights, style, mask=None):
    for i in range(count(weights)):
        x = encode_once(x, in_layer(weights, i), style, mask if i == 0 else None)
    return ending(x, weights, style)


mask_in_first_layer = Mutant(
    "ENC-mask-in-first-layer",
    story="only the first layer gets the masks",
    breaks={"ENC-DEPTH-1"},
    hint="pass the masks on in the loop over the layers: what leaks in one of them has leaked",
    replace={encoder.encoder: mask_for_the_first},
)


def mask_for_the_last(x, weights, style, mask=None):
    last = count(weights) - 1
    for i in range(last + 1):
        x = encode_once(x, in_layer(weights, i), style, mask if i == last else None)
    return ending(x, weights, style)


mask_in_last_layer = Mutant(
    "ENC-mask-in-last-layer",
    story="only the last layer gets the masks",
    breaks={"ENC-DEPTH-1"},
    hint="pass the masks on to every layer",
    replace={encoder.encoder: mask_for_the_last},
)


def one_layer_for_all(x, weights, style, mask=None):
    for _ in range(count(weights)):
        x = encode_once(x, under(weights, "layers.0"), style, mask)
    return ending(x, weights, style)


shared_layer = Mutant(
    "ENC-shared-layer",
    story="one layer is applied N times: all entries of the list are the same object",
    breaks={"ENC-OWN-1"},
    hint="build each one: [Layer() for _ in range(N)], not [layer] * N",
    replace={encoder.encoder: one_layer_for_all},
    source="encodecmae#3",
)


def with_part_of_the_first(part):
    def stack(x, weights, style, mask=None):
        for i in range(count(weights)):
            own = in_layer(weights, i)
            shared = {f"{part}.{name}": w for name, w in under(weights, f"layers.0.{part}").items()}
            x = encode_once(x, {**own, **shared}, style, mask)
        return ending(x, weights, style)

    return stack


shared_network = Mutant(
    "ENC-shared-network",
    story="all layers have the same feed-forward network",
    breaks={"ENC-OWN-1"},
    hint="build the network inside the loop, or copy.deepcopy it",
    replace={encoder.encoder: with_part_of_the_first("ff")},
    source="espnet#1278",
)

shared_attention = Mutant(
    "ENC-shared-attention",
    story="all layers have the same attention",
    breaks={"ENC-OWN-1"},
    hint="build attention inside the loop, or copy.deepcopy it",
    replace={encoder.encoder: with_part_of_the_first("attn")},
    source="annotated-transformer, without its deepcopy",
)


def one_layer_less(x, weights, style, mask=None):
    for i in range(max(count(weights) - 1, 1)):
        x = encode_once(x, in_layer(weights, i), style, mask)
    return ending(x, weights, style)


def without_the_last(x, weights, style, mask=None):
    for i in range(count(weights) - 1):
        x = encode_once(x, in_layer(weights, i), style, mask)
    return ending(x, weights, style)


layer_left_out = Mutant(
    "ENC-layer-left-out",
    story="the last of several layers is left out",
    breaks={"ENC-OWN-1"},
    hint="range(N), not range(N - 1)",
    replace={encoder.encoder: one_layer_less},
    source="continual-inference#70",
    variants=[{encoder.encoder: without_the_last}],
)


def one_layer_more(x, weights, style, mask=None):
    n = count(weights)
    for i in [*range(n), *([0] if n > 1 else [])]:
        x = encode_once(x, in_layer(weights, i), style, mask)
    return ending(x, weights, style)


prototype_applied = Mutant(
    "ENC-prototype-applied",
    story="the layer that the others were copied from is applied as well",
    breaks={"ENC-STACK-1"},
    hint="N layers, each applied once",
    replace={encoder.encoder: one_layer_more},
)


def last_layer_first(x, weights, style, mask=None):
    for i in reversed(range(count(weights))):
        x = encode_once(x, in_layer(weights, i), style, mask)
    return ending(x, weights, style)


reversed_layers = Mutant(
    "ENC-reversed",
    story="layers are applied from the last to the first",
    breaks={"ENC-STACK-1"},
    hint="layer 0 gets the input",
    replace={encoder.encoder: last_layer_first},
)


def input_added_again(x, weights, style, mask=None):
    y = x
    for i in range(count(weights)):
        y = encode_once(y if i == 0 else x + y, in_layer(weights, i), style, mask)
    return ending(y, weights, style)


def last_alone(x, weights, style, mask=None):
    y = x
    for i in range(count(weights)):
        y = encode_once(x, in_layer(weights, i), style, mask)
    return ending(y, weights, style)


every_layer_from_the_input = Mutant(
    "ENC-every-layer-from-the-input",
    story="every layer gets the input of the stack: only the last one has an effect",
    breaks={"ENC-OWN-1"},
    hint="x = layer(x), not out = layer(x)",
    replace={encoder.encoder: last_alone},
)

input_in_every_layer = Mutant(
    "ENC-input-in-every-layer",
    story="the input of the stack is added before every layer",
    breaks={"ENC-STACK-1"},
    hint="residuals are within layers; a layer gets what the one before it gave",
    replace={encoder.encoder: input_added_again},
)


def without_last_norm(x, weights, style, mask=None):
    for i in range(count(weights)):
        x = encode_once(x, in_layer(weights, i), style, mask)
    return x


no_last_norm = Mutant(
    "ENC-no-last-norm",
    story="the last norm is missing",
    breaks={"ENC-FINAL-1"},
    hint="a pre-norm stack ends with a norm: its residual is never normalized otherwise",
    replace={encoder.encoder: without_last_norm},
)


def norm_after_each(x, weights, style, mask=None):
    for i in range(count(weights)):
        x = ending(encode_once(x, in_layer(weights, i), style, mask), weights, style)
    return x


last_norm_after_each = Mutant(
    "ENC-last-norm-after-each",
    story="the last norm is applied after every layer",
    breaks={"ENC-FINAL-1"},
    hint="after the loop, not in it",
    replace={encoder.encoder: norm_after_each},
)


def norm_before_layers(x, weights, style, mask=None):
    return without_last_norm(ending(x, weights, style), weights, style, mask)


last_norm_first = Mutant(
    "ENC-last-norm-first",
    story="the last norm is applied before the first layer",
    breaks={"ENC-FINAL-1"},
    hint="after the loop",
    replace={encoder.encoder: norm_before_layers},
)


def norm_of_last_layer(x, weights, style, mask=None):
    last = f"layers.{count(weights) - 1}"
    name = "norm2" if f"{last}.norm2.weight" in weights else "norm1"  # of parallel branches with one norm
    x = without_last_norm(x, weights, style, mask)
    return normed(x, weights, f"{last}.{name}", style) if "norm.weight" in weights else x


last_norm_borrowed = Mutant(
    "ENC-last-norm-borrowed",
    story="the last norm is norm2 of the last layer, once more",
    breaks={"ENC-FINAL-1"},
    hint="a norm with weights of its own",
    replace={encoder.encoder: norm_of_last_layer},
)


def norm_in_any_case(x, weights, style, mask=None):
    x = without_last_norm(x, weights, style, mask)
    bare = layer_norm(x, x.shape[-1:], eps=style.eps, how=style.divisor)
    return ending(x, weights, style) if "norm.weight" in weights else bare


last_norm_unasked = Mutant(
    "ENC-last-norm-unasked",
    story="the stack ends with a norm that nobody asked for",
    breaks={"ENC-PRE-1", "ENC-POST-1", "ENC-PLACE-1"},
    hint='use config.final_norm, or declare final-norm = "always"',
    replace={encoder.encoder: norm_in_any_case},
    source="pytorch#55270; annotated-transformer#92",
)
