"""Ways to get the encoder wrong: norms in other places, sublayers side by side."""

from attnconf.conformance.chapters.encoder.mutants.shared import attend, normed, position_wise, post_norm, pre_norm
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import encoder


def tied_behind(layer):
    """Return a sandwich with one norm for what either sublayer gives."""

    def with_one_norm(x, weights, style, mask):
        same = {n.replace("norm1_out", "norm2_out"): w for n, w in weights.items() if n.startswith("norm1_out.")}
        return layer(x, {**weights, **same}, style, mask)

    return with_one_norm


# -- norms of what sublayers give


def sandwich_on_sums(x, weights, style, mask):
    attended = attend(normed(x, weights, "norm1", style), weights, style, mask)
    h = normed(x + attended, weights, "norm1_out", style)
    widened = position_wise(normed(h, weights, "norm2", style), weights, style)
    return normed(h + widened, weights, "norm2_out", style)


def sandwich_on_second_sum(x, weights, style, mask):
    attended = attend(normed(x, weights, "norm1", style), weights, style, mask)
    h = x + normed(attended, weights, "norm1_out", style)
    widened = position_wise(normed(h, weights, "norm2", style), weights, style)
    return normed(h + widened, weights, "norm2_out", style)


def sandwich_on_first_sum(x, weights, style, mask):
    attended = attend(normed(x, weights, "norm1", style), weights, style, mask)
    h = normed(x + attended, weights, "norm1_out", style)
    widened = position_wise(normed(h, weights, "norm2", style), weights, style)
    return h + normed(widened, weights, "norm2_out", style)


norm_of_the_sum = Mutant(
    "ENC-sandwich-on-sum",
    story="the norm behind a sublayer is taken of the sum, norm'(x + f(norm(x))), not of what the sublayer gives",
    breaks={"ENC-PLACE-1"},
    hint="x + norm'(f(norm(x))): the residual stays outside of both norms",
    replace={encoder.sandwich_layer: sandwich_on_sums},
    variants=[
        {encoder.sandwich_layer: sandwich_on_second_sum},
        {encoder.sandwich_layer: sandwich_on_first_sum},
    ],
)

residual_within_the_norm = Mutant(
    "ENC-output-norm-on-sum",
    story="the norm of a sublayer's output takes the residual in, norm(x + f(x)), as in post-norm layers",
    breaks={"ENC-PLACE-1"},
    hint='x + norm(f(x)), or declare norm-order = "post"',
    replace={encoder.output_norm_layer: post_norm},
)

norms_before = Mutant(
    "ENC-output-norm-before",
    story="the norms stand before the sublayers, x + f(norm(x)), where they belong behind them",
    breaks={"ENC-PLACE-2"},
    hint='x + norm(f(x)), or declare norm-order = "pre"',
    replace={encoder.output_norm_layer: pre_norm},
)

norms_behind_forgotten = Mutant(
    "ENC-sandwich-open",
    story="the norms behind the two sublayers exist and are never applied: a sandwich is left as a pre-norm layer",
    breaks={"ENC-PLACE-2"},
    hint="x + norm'(f(norm(x))): two norms for each of the sublayers",
    replace={encoder.sandwich_layer: pre_norm},
)


def sandwich_second_open(x, weights, style, mask):
    attended = attend(normed(x, weights, "norm1", style), weights, style, mask)
    h = x + normed(attended, weights, "norm1_out", style)
    return h + position_wise(normed(h, weights, "norm2", style), weights, style)


def sandwich_first_open(x, weights, style, mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    widened = position_wise(normed(h, weights, "norm2", style), weights, style)
    return h + normed(widened, weights, "norm2_out", style)


def output_norm_first_alone(x, weights, style, mask):
    h = x + normed(attend(x, weights, style, mask), weights, "norm1", style)
    return h + position_wise(h, weights, style)


def output_norm_second_alone(x, weights, style, mask):
    h = x + attend(x, weights, style, mask)
    return h + normed(position_wise(h, weights, style), weights, "norm2", style)


one_norm_behind = Mutant(
    "ENC-one-norm-behind",
    story="of the norms behind the two sublayers one is forgotten",
    breaks={"ENC-PLACE-2"},
    hint="what attention gives is normalized before it is added, and what the network gives, too",
    replace={encoder.sandwich_layer: sandwich_second_open, encoder.output_norm_layer: output_norm_first_alone},
    variants=[
        {encoder.sandwich_layer: sandwich_first_open},
        {encoder.output_norm_layer: output_norm_second_alone},
    ],
)

same_norm_behind = Mutant(
    "ENC-shared-norm-behind",
    story="one norm serves what both sublayers give",
    breaks={"ENC-NORM-1"},
    hint="two norms behind the sublayers, each with its own weight",
    replace={encoder.sandwich_layer: tied_behind(encoder.sandwich_layer)},
)


def sandwich_unnormed(x, weights, style, mask):
    h = x + normed(attend(x, weights, style, mask), weights, "norm1_out", style)
    return h + normed(position_wise(h, weights, style), weights, "norm2_out", style)


norms_before_forgotten = Mutant(
    "ENC-sandwich-bare-input",
    story="the norms before the two sublayers are never applied: a sandwich is left with those behind them",
    breaks={"ENC-ORDER-1"},
    hint="x + norm'(f(norm(x))): two norms for each of the sublayers",
    replace={encoder.sandwich_layer: sandwich_unnormed},
)


# -- side by side


def parallel_in_sequence(x, weights, style, mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    return h + position_wise(normed(h, weights, "norm1", style), weights, style)


in_sequence = Mutant(
    "ENC-parallel-in-sequence",
    story="the network gets the sum of the residual and of what attention adds, where both belong side by side",
    breaks={"ENC-PLACE-3"},
    hint='x + attention(norm(x)) + ff(norm(x)): the network gets what attention gets; or declare norm-order = "pre"',
    replace={encoder.parallel_layer: parallel_in_sequence, encoder.two_norm_parallel_layer: pre_norm},
)


def parallel_of_attention(x, weights, style, mask):
    attended = attend(normed(x, weights, "norm1", style), weights, style, mask)
    return x + attended + position_wise(attended, weights, style)


network_of_attention = Mutant(
    "ENC-parallel-of-attention",
    story="the network of a parallel layer gets what attention gives",
    breaks={"ENC-PLACE-3"},
    hint="x + attention(n) + ff(n) with n = norm(x)",
    replace={encoder.parallel_layer: parallel_of_attention},
)


def parallel_without_residual(x, weights, style, mask):
    n = normed(x, weights, "norm1", style)
    return attend(n, weights, style, mask) + position_wise(n, weights, style)


def two_norm_parallel_without_residual(x, weights, style, mask):
    attended = attend(normed(x, weights, "norm1", style), weights, style, mask)
    return attended + position_wise(normed(x, weights, "norm2", style), weights, style)


no_residual_beside = Mutant(
    "ENC-parallel-no-residual",
    story="a parallel layer has no residual",
    breaks={"ENC-PLACE-1"},
    hint="x + attention(norm(x)) + ff(norm(x))",
    replace={
        encoder.parallel_layer: parallel_without_residual,
        encoder.two_norm_parallel_layer: two_norm_parallel_without_residual,
    },
)


def parallel_on_normed(x, weights, style, mask):
    n = normed(x, weights, "norm1", style)
    return n + attend(n, weights, style, mask) + position_wise(n, weights, style)


residual_from_the_norm = Mutant(
    "ENC-parallel-on-normed",
    story="the residual of a parallel layer is taken after the norm: n + attention(n) + ff(n) with n = norm(x)",
    breaks={"ENC-PLACE-1"},
    hint="keep x: x + attention(norm(x)) + ff(norm(x))",
    replace={encoder.parallel_layer: parallel_on_normed},
)


def parallel_twice(x, weights, style, mask):
    n = normed(x, weights, "norm1", style)
    return (x + attend(n, weights, style, mask)) + (x + position_wise(n, weights, style))


residual_twice = Mutant(
    "ENC-parallel-residual-twice",
    story="each of the two sublayers of a parallel layer adds the residual: it is there twice",
    breaks={"ENC-PLACE-1"},
    hint="x + attention(norm(x)) + ff(norm(x)): x once",
    replace={encoder.parallel_layer: parallel_twice},
)


def parallel_with_one_norm(x, weights, style, mask):
    n = normed(x, weights, "norm1", style)
    return x + attend(n, weights, style, mask) + position_wise(n, weights, style)


one_norm_for_both = Mutant(
    "ENC-parallel-one-norm",
    story="attention and network of a parallel layer with two norms share the first: the second is never applied",
    breaks={"ENC-NORM-1"},
    hint='x + attention(norm1(x)) + ff(norm2(x)), or one norm alone and norm-order = "parallel"',
    replace={encoder.two_norm_parallel_layer: parallel_with_one_norm},
)


def parallel_network_unnormed(x, weights, style, mask):
    attended = attend(normed(x, weights, "norm1", style), weights, style, mask)
    return x + attended + position_wise(x, weights, style)


network_unnormed = Mutant(
    "ENC-parallel-bare-network",
    story="the network of a parallel layer gets x as it is, and attention its norm",
    breaks={"ENC-ORACLE-1", "ENC-ORACLE-2"},
    hint="both get norm(x)",
    replace={encoder.parallel_layer: parallel_network_unnormed},
)


def parallel_attention_unnormed(x, weights, style, mask):
    n = normed(x, weights, "norm1", style)
    return x + attend(x, weights, style, mask) + position_wise(n, weights, style)


attention_unnormed = Mutant(
    "ENC-parallel-bare-attention",
    story="the attention of a parallel layer gets x as it is, and the network its norm",
    breaks={"ENC-ORACLE-1", "ENC-ORACLE-2"},
    hint="both get norm(x)",
    replace={encoder.parallel_layer: parallel_attention_unnormed},
)
