"""Ways to get the encoder wrong: residuals and norms."""

from attnconf.conformance.chapters.encoder.mutants.shared import attend, normed, position_wise, post_norm, pre_norm
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import encoder
from attnconf.reference.layer_norm import layer_norm


def tied(layer):
    """Return a layer with one norm for both of its sublayers, as where a class has a single one."""

    def with_one_norm(x, weights, style, mask):
        first = {name.replace("norm1", "norm2"): w for name, w in weights.items() if name.startswith("norm1.")}
        return layer(x, {**weights, **first}, style, mask)

    return with_one_norm


def pre_norm_on_normed(x, weights, style, mask):
    n = normed(x, weights, "norm1", style)
    h = n + attend(n, weights, style, mask)
    return h + position_wise(normed(h, weights, "norm2", style), weights, style)


residual_from_the_norm = Mutant(
    "ENC-residual-from-norm",
    story="the residual is taken after the norm: n + attention(n) with n = norm(x)",
    breaks={"ENC-PRE-1"},
    hint="keep x: x + attention(norm(x))",
    replace={encoder.pre_norm_layer: pre_norm_on_normed},
    variants=[{encoder.pre_norm_layer: tied(pre_norm_on_normed)}],
    source="pytorch#61165; faster-trajectory-transformer#3; Compact-Transformers#25; burn#1056",
)


def pre_norm_on_second_normed(x, weights, style, mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    n = normed(h, weights, "norm2", style)
    return n + position_wise(n, weights, style)


second_residual_from_the_norm = Mutant(
    "ENC-second-residual-from-norm",
    story="the second residual is taken after the norm",
    breaks={"ENC-PRE-1"},
    hint="keep h: h + ff(norm(h))",
    replace={encoder.pre_norm_layer: pre_norm_on_second_normed},
    variants=[{encoder.pre_norm_layer: tied(pre_norm_on_second_normed)}],
)


def pre_norm_on_both_normed(x, weights, style, mask):
    n = normed(x, weights, "norm1", style)
    n = normed(n + attend(n, weights, style, mask), weights, "norm2", style)
    return n + position_wise(n, weights, style)


both_residuals_from_the_norm = Mutant(
    "ENC-both-residuals-from-norm",
    story="both residuals are taken after the norm: x = norm(x), then x + f(x)",
    breaks={"ENC-PRE-1"},
    hint="x + f(norm(x)): the normed x goes into the sublayer, the x that is added to is the one before the norm",
    replace={encoder.pre_norm_layer: pre_norm_on_both_normed},
    variants=[{encoder.pre_norm_layer: tied(pre_norm_on_both_normed)}],
    source="Compact-Transformers#25",
)


def pre_norm_without_residual(x, weights, style, mask):
    h = attend(normed(x, weights, "norm1", style), weights, style, mask)
    return position_wise(normed(h, weights, "norm2", style), weights, style)


def post_norm_without_residual(x, weights, style, mask):
    h = normed(attend(x, weights, style, mask), weights, "norm1", style)
    return normed(position_wise(h, weights, style), weights, "norm2", style)


no_residual = Mutant(
    "ENC-no-residual",
    story="there is no residual",
    breaks={"ENC-PRE-1", "ENC-POST-1"},
    hint="add what went in to what each sublayer gives",
    replace={encoder.pre_norm_layer: pre_norm_without_residual, encoder.post_norm_layer: post_norm_without_residual},
)

always_post = Mutant(
    "ENC-always-post",
    story="norm_first is ignored: the norm always comes after the sum",
    breaks={"ENC-PRE-1"},
    hint='x + f(norm(x)) where norm_first is set, or declare norm-order = "post"',
    replace={encoder.pre_norm_layer: post_norm},
    source="annotated-transformer#13",
)

always_pre = Mutant(
    "ENC-always-pre",
    story="norm_first is ignored: the norm always comes before the sublayer",
    breaks={"ENC-POST-1"},
    hint='norm(x + f(x)) where norm_first is not set, or declare norm-order = "pre"',
    replace={encoder.post_norm_layer: pre_norm},
    source="annotated-transformer#13",
)


def post_norm_inside(x, weights, style, mask):
    h = x + normed(attend(x, weights, style, mask), weights, "norm1", style)
    return h + normed(position_wise(h, weights, style), weights, "norm2", style)


norm_of_the_branch = Mutant(
    "ENC-norm-of-the-branch",
    story="the norm is taken before the sum: x + norm(f(x)), as in OLMo 2; here a deviation from what is declared",
    breaks={"ENC-POST-1"},
    hint='norm(x + f(x)), or x + f(norm(x)); or declare norm-order = "output"',
    replace={encoder.post_norm_layer: post_norm_inside},
    source="annotated-transformer#110",
    published="x + norm(f(x)), as in OLMo 2",
)


def post_norm_without_second_residual(x, weights, style, mask):
    h = normed(x + attend(x, weights, style, mask), weights, "norm1", style)
    return normed(position_wise(h, weights, style), weights, "norm2", style)


def pre_norm_without_second_residual(x, weights, style, mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    return position_wise(normed(h, weights, "norm2", style), weights, style)


no_second_residual = Mutant(
    "ENC-no-second-residual",
    story="the residual around the feed-forward network is forgotten",
    breaks={"ENC-PRE-1", "ENC-POST-1"},
    hint="norm2(h + ff(h)), or h + ff(norm2(h))",
    replace={
        encoder.post_norm_layer: post_norm_without_second_residual,
        encoder.pre_norm_layer: pre_norm_without_second_residual,
    },
)


def post_norm_without_first_residual(x, weights, style, mask):
    h = normed(attend(x, weights, style, mask), weights, "norm1", style)
    return normed(h + position_wise(h, weights, style), weights, "norm2", style)


def pre_norm_without_first_residual(x, weights, style, mask):
    h = attend(normed(x, weights, "norm1", style), weights, style, mask)
    return h + position_wise(normed(h, weights, "norm2", style), weights, style)


no_first_residual = Mutant(
    "ENC-no-first-residual",
    story="the residual around attention is forgotten",
    breaks={"ENC-PRE-1", "ENC-POST-1"},
    hint="norm1(x + attention(x)), or x + attention(norm1(x))",
    replace={
        encoder.post_norm_layer: post_norm_without_first_residual,
        encoder.pre_norm_layer: pre_norm_without_first_residual,
    },
)


def post_norm_around_input(x, weights, style, mask):
    h = normed(x + attend(x, weights, style, mask), weights, "norm1", style)
    return normed(x + position_wise(h, weights, style), weights, "norm2", style)


def pre_norm_around_input(x, weights, style, mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    return x + position_wise(normed(h, weights, "norm2", style), weights, style)


second_residual_from_the_input = Mutant(
    "ENC-second-residual-from-input",
    story="the residual around the feed-forward network is the layer's input",
    breaks={"ENC-POST-1"},
    hint="norm2(h + ff(h)), with h = norm1(x + attention(x))",
    replace={encoder.post_norm_layer: post_norm_around_input, encoder.pre_norm_layer: pre_norm_around_input},
)


def post_norm_once(x, weights, style, mask):
    h = x + attend(x, weights, style, mask)
    return normed(h + position_wise(h, weights, style), weights, "norm2", style)


one_norm = Mutant(
    "ENC-one-norm",
    story="there is one norm, at the end of the layer",
    breaks={"ENC-POST-1"},
    hint="a norm after each of the two sums",
    replace={encoder.post_norm_layer: post_norm_once},
)


def pre_norm_second_bare(x, weights, style, mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    return h + position_wise(h, weights, style)


def pre_norm_first_bare(name):
    """Return a pre-norm layer whose only norm, called so, stands before the feed-forward network."""

    def layer(x, weights, style, mask):
        h = x + attend(x, weights, style, mask)
        return h + position_wise(normed(h, weights, name, style), weights, style)

    return layer


def post_norm_first_alone(x, weights, style, mask):
    h = normed(x + attend(x, weights, style, mask), weights, "norm1", style)
    return h + position_wise(h, weights, style)


norm_forgotten = Mutant(
    "ENC-norm-forgotten",
    story="one of the two norms is forgotten",
    breaks={"ENC-POST-1"},
    hint="a norm for each of the two sublayers",
    replace={encoder.pre_norm_layer: pre_norm_second_bare, encoder.post_norm_layer: post_norm_first_alone},
    variants=[{encoder.pre_norm_layer: pre_norm_first_bare(name)} for name in ("norm2", "norm1")],
)


def normed_by_the_other(x, weights, name, style):
    other = {"norm1": "norm2", "norm2": "norm1"}.get(name, name)
    return normed(x, weights, other if f"{other}.weight" in weights else name, style)


swapped_norms = Mutant(
    "ENC-swapped-norms",
    story="norm1 and norm2 are swapped",
    breaks={"ENC-NORM-1"},
    hint="norm1 belongs to attention, norm2 to the feed-forward network",
    replace={encoder.normed: normed_by_the_other},
)

shared_norm = Mutant(
    "ENC-shared-norm",
    story="one norm serves both sublayers",
    breaks={"ENC-NORM-1"},
    hint="two norms, each with its own weight and bias",
    replace={
        encoder.normed: lambda x, weights, name, style: normed(x, weights, "norm1" if name == "norm2" else name, style)
    },
)

bare_norms = Mutant(
    "ENC-bare-norms",
    story="the norms have no gain and no shift",
    breaks={"ENC-POST-1"},
    hint="elementwise_affine=True",
    replace={
        encoder.normed: lambda x, weights, name, style: layer_norm(
            x, x.shape[-1:], None, None, style.eps, style.divisor
        )
    },
    source="kornia: no test has a gain other than 1",
)


def normed_over_tokens(x, weights, name, style):
    own = encoder.under(weights, name)
    across = layer_norm(x.transpose(1, 2), (x.shape[1],), None, None, style.eps, style.divisor).transpose(1, 2)
    return across * own["weight"] + own.get("bias", 0.0)


norm_over_tokens = Mutant(
    "ENC-norm-over-tokens",
    story="the norms are taken over the tokens instead of the features",
    breaks={"ENC-TOKEN-1"},
    hint="LayerNorm(embed_dim), on (batch, token, feature)",
    replace={encoder.normed: normed_over_tokens},
    source="OpenNMT-tf#6; tensorflow/addons#2142",
)
