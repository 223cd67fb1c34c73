"""Ways to get decoder layers, and stacks of them, wrong: the residuals."""

from attnconf.conformance.chapters.decoder.mutants.shared import LAYERS, attend, look, normed, think
from attnconf.conformance.engine.mutant import Mutant


def pre_from_normed(x, memory, weights, style, mask, memory_mask):
    n = normed(x, weights, "norm1", style)
    h = n + attend(n, weights, style, mask)
    n = normed(h, weights, "norm2", style)
    h = n + look(n, memory, weights, style, memory_mask)
    n = normed(h, weights, "norm3", style)
    return n + think(n, weights, style)


residual_normed = Mutant(
    "DEC-residual-normed",
    story="in pre-norm the residual is taken after the norm",
    breaks={"DEC-ZERO-1"},
    hint="x + f(norm(x)): the residual is x itself",
    replace={LAYERS["pre"]: pre_from_normed},
    source="pytorch#61165, faster-trajectory-transformer#3, burn#1056",
)


def pre_from_normed_at(number):
    """Return a pre-norm layer whose residual around one of its sublayers, 1 to 3, is what went into that sublayer."""

    def layer(x, memory, weights, style, mask, memory_mask):
        n = normed(x, weights, "norm1", style)
        h = (n if number == 1 else x) + attend(n, weights, style, mask)
        n = normed(h, weights, "norm2", style)
        h = (n if number == 2 else h) + look(n, memory, weights, style, memory_mask)
        n = normed(h, weights, "norm3", style)
        return (n if number == 3 else h) + think(n, weights, style)

    return layer


first_residual_normed = Mutant(
    "DEC-first-residual-normed",
    story="in pre-norm the residual around self-attention is taken after the norm",
    breaks={"DEC-ZERO-1"},
    hint="keep x: x + self(norm1(x))",
    replace={LAYERS["pre"]: pre_from_normed_at(1)},
)

cross_residual_normed = Mutant(
    "DEC-cross-residual-normed",
    story="in pre-norm the residual around the attention to the memory is taken after the norm",
    breaks={"DEC-ZERO-1"},
    hint="keep h: h + cross(norm2(h), memory)",
    replace={LAYERS["pre"]: pre_from_normed_at(2)},
)

last_residual_normed = Mutant(
    "DEC-last-residual-normed",
    story="in pre-norm the residual around the feed-forward network is taken after the norm",
    breaks={"DEC-ZERO-1"},
    hint="keep h: h + ff(norm3(h))",
    replace={LAYERS["pre"]: pre_from_normed_at(3)},
)


def pre_without_cross_residual(x, memory, weights, style, mask, memory_mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    h = look(normed(h, weights, "norm2", style), memory, weights, style, memory_mask)
    return h + think(normed(h, weights, "norm3", style), weights, style)


def post_without_cross_residual(x, memory, weights, style, mask, memory_mask):
    h = normed(x + attend(x, weights, style, mask), weights, "norm1", style)
    h = normed(look(h, memory, weights, style, memory_mask), weights, "norm2", style)
    return normed(h + think(h, weights, style), weights, "norm3", style)


no_cross_residual = Mutant(
    "DEC-no-cross-residual",
    story="what comes from the memory replaces the targets instead of being added",
    breaks={"DEC-ZERO-1", "DEC-ZERO-2"},
    hint="each of the three sublayers has a residual",
    replace={LAYERS["pre"]: pre_without_cross_residual, LAYERS["post"]: post_without_cross_residual},
)


def pre_without_last_residual(x, memory, weights, style, mask, memory_mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    h = h + look(normed(h, weights, "norm2", style), memory, weights, style, memory_mask)
    return think(normed(h, weights, "norm3", style), weights, style)


no_last_residual = Mutant(
    "DEC-no-feed-forward-residual",
    story="the feed-forward network of a pre-norm layer has no residual",
    breaks={"DEC-ZERO-1"},
    hint="return h + ff(norm3(h))",
    replace={LAYERS["pre"]: pre_without_last_residual},
)


def pre_stale_residual(x, memory, weights, style, mask, memory_mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    h = x + look(normed(h, weights, "norm2", style), memory, weights, style, memory_mask)
    return h + think(normed(h, weights, "norm3", style), weights, style)


def post_stale_residual(x, memory, weights, style, mask, memory_mask):
    h = normed(x + attend(x, weights, style, mask), weights, "norm1", style)
    h = normed(x + look(h, memory, weights, style, memory_mask), weights, "norm2", style)
    return normed(h + think(h, weights, style), weights, "norm3", style)


stale_residual = Mutant(
    "DEC-stale-residual",
    story="the second residual is the layer's input: what self-attention added is lost",
    breaks={"DEC-ZERO-2"},
    hint="add to h, not to x",
    replace={LAYERS["pre"]: pre_stale_residual, LAYERS["post"]: post_stale_residual},
)


def pre_input_again(x, memory, weights, style, mask, memory_mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    h = h + look(normed(h, weights, "norm2", style), memory, weights, style, memory_mask)
    return x + think(normed(h, weights, "norm3", style), weights, style)


def post_input_again(x, memory, weights, style, mask, memory_mask):
    h = normed(x + attend(x, weights, style, mask), weights, "norm1", style)
    h = normed(h + look(h, memory, weights, style, memory_mask), weights, "norm2", style)
    return normed(x + think(h, weights, style), weights, "norm3", style)


input_again = Mutant(
    "DEC-input-again",
    story="the third residual is the layer's input: what both attentions added is lost",
    breaks={"DEC-ZERO-2"},
    hint="add to what came out of the attention to the memory",
    replace={LAYERS["pre"]: pre_input_again, LAYERS["post"]: post_input_again},
)


def pre_first_sum_again(x, memory, weights, style, mask, memory_mask):
    first = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    h = first + look(normed(first, weights, "norm2", style), memory, weights, style, memory_mask)
    return first + think(normed(h, weights, "norm3", style), weights, style)


def post_first_sum_again(x, memory, weights, style, mask, memory_mask):
    first = normed(x + attend(x, weights, style, mask), weights, "norm1", style)
    h = normed(first + look(first, memory, weights, style, memory_mask), weights, "norm2", style)
    return normed(first + think(h, weights, style), weights, "norm3", style)


first_sum_again = Mutant(
    "DEC-first-sum-again",
    story="the third residual is what came before the memory: what the memory added is lost",
    breaks={"DEC-ZERO-2"},
    hint="add to what came out of the attention to the memory",
    replace={LAYERS["pre"]: pre_first_sum_again, LAYERS["post"]: post_first_sum_again},
)
