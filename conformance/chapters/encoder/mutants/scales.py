"""Ways to get the encoder wrong: learned factors on what the sublayers of a layer add."""

from attnconf.conformance.chapters.encoder.mutants.shared import attend, join, position_wise
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import encoder


def factors(weights, name, style):
    """Return the factors of a branch as the reference takes them: 1 where there are none."""
    own = "scale1" if style.branch_scale == "one-scalar" else name
    return 1.0 if style.branch_scale == "none" else weights[f"{own}.weight"]


def renamed(names):
    """Return a residual whose branches have the factors of other ones; None: none at all."""

    def joining(x, added, weights, name, style):
        other = names.get(name, name)
        return x + added if other is None else join(x, added, weights, other, style)

    return joining


def of_the_sum(x, added, weights, name, style):
    return factors(weights, name, style) * (x + added)


def of_the_residual(x, added, weights, name, style):
    return factors(weights, name, style) * x + added


def one_more(x, added, weights, name, style):
    return x + added if style.branch_scale == "none" else x + (1 + factors(weights, name, style)) * added


def scaled_attention(x, weights, style, mask):
    return attend(factors(weights, "scale1", style) * x, weights, style, mask)


def scaled_network(x, weights, style):
    return position_wise(factors(weights, "scale2", style) * x, weights, style)


not_applied = Mutant(
    "ENC-scale-unused",
    story="the factors of what the sublayers add exist and are never applied",
    breaks={"ENC-SCALE-1"},
    hint="x + scale * f(norm(x)), for attention and network alike",
    replace={encoder.joined: renamed({"scale1": None, "scale2": None})},
)

one_for_both = Mutant(
    "ENC-scale-shared",
    story="both branches of a layer are multiplied by the factors of one of them",
    breaks={"ENC-SCALE-1"},
    hint="attention and network each have factors of their own: ls1 and ls2",
    replace={encoder.joined: renamed({"scale2": "scale1"})},
    variants=[{encoder.joined: renamed({"scale1": "scale2"})}],
)

exchanged = Mutant(
    "ENC-scales-exchanged",
    story="attention is multiplied by the factors of the network, and the network by those of attention",
    breaks={"ENC-SCALE-1"},
    hint="ls1 belongs to attention, ls2 to the network",
    replace={encoder.joined: renamed({"scale1": "scale2", "scale2": "scale1"})},
)

one_branch_alone = Mutant(
    "ENC-scale-one-branch",
    story="only one of the two branches of a layer is multiplied by its factors",
    breaks={"ENC-SCALE-1"},
    hint="x + scale * f(norm(x)), for attention and network alike",
    replace={encoder.joined: renamed({"scale2": None})},
    variants=[{encoder.joined: renamed({"scale1": None})}],
)

behind_the_sum = Mutant(
    "ENC-scale-of-sum",
    story="the sum of residual and branch is multiplied, scale * (x + f(x)), not the branch alone",
    breaks={"ENC-SCALE-1"},
    hint="x + scale * f(norm(x)): the residual itself is never scaled",
    replace={encoder.joined: of_the_sum},
)

of_what_stays = Mutant(
    "ENC-scale-of-residual",
    story="the residual is multiplied, scale * x + f(x), where the branch should be",
    breaks={"ENC-SCALE-1"},
    hint="x + scale * f(norm(x))",
    replace={encoder.joined: of_the_residual},
)

before_the_sublayer = Mutant(
    "ENC-scale-of-input",
    story="what goes into a sublayer is multiplied, f(scale * norm(x)), not what comes out of it",
    breaks={"ENC-SCALE-1"},
    hint="x + scale * f(norm(x)): behind the last linear layer of the branch",
    replace={
        encoder.joined: renamed({"scale1": None, "scale2": None}),
        encoder.self_attention: scaled_attention,
        encoder.position_wise: scaled_network,
    },
)

one_plus = Mutant(
    "ENC-scale-one-plus",
    story="a branch is multiplied by 1 + scale",
    breaks={"ENC-SCALE-1"},
    hint="scale * f(norm(x)): fresh factors are small, so that a layer begins near the identity",
    replace={encoder.joined: one_more},
)
