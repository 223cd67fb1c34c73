"""Ways to get RMSNorm wrong: gain."""

import torch

from attnconf.conformance.chapters.rms_norm.mutants.shared import with_gain
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import rms_norm

gain_forgotten = Mutant(
    "RMS-gain-forgotten",
    story="there is no gain",
    breaks={"RMS-GAIN-1"},
    hint="multiply by the weight",
    replace={rms_norm.scale: with_gain(lambda weight: weight * 0 + 1)},
)

gain_of_one_number = Mutant(
    "RMS-gain-of-one-number",
    story="one gain for all features",
    breaks={"RMS-GAIN-1"},
    hint="a gain for each feature",
    replace={rms_norm.scale: with_gain(lambda weight: weight[:1].expand_as(weight))},
)

one_plus = Mutant(
    "RMS-one-plus",
    story="multiplied by 1 + weight, and nobody says so",
    breaks={"RMS-GAIN-1"},
    hint='declare rms-norm-weight = "one-plus", or multiply by the weight',
    replace={rms_norm.scale: with_gain(lambda weight: 1 + weight)},
)

gain_positive = Mutant(
    "RMS-gain-positive",
    story="the gain loses its sign",
    breaks={"RMS-GAIN-1"},
    hint="a gain may be negative",
    replace={rms_norm.scale: with_gain(torch.abs)},
)

gain_first = Mutant(
    "RMS-gain-first",
    story="x is multiplied by the gain before it is normalized",
    breaks={"RMS-GAIN-1"},
    hint="normalize first",
    replace={
        rms_norm.rms_norm: lambda x, weight, eps=1e-6, place="inside": rms_norm.rms_norm(
            rms_norm.scale(x, weight if x.shape[-1] == len(weight) else x.new_ones(1)), weight * 0 + 1, eps, place
        ),
    },
)
