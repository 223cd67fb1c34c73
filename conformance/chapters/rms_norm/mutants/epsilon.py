"""Ways to get RMSNorm wrong: ε."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import rms_norm

eps_outside = Mutant(
    "RMS-eps-outside",
    story="ε is added to the root mean square, outside the root",
    breaks={"RMS-EPS-1"},
    hint="torch.rsqrt(mean square + eps); if it is meant, declare rms-norm-eps",
    replace={rms_norm.spread: lambda x, eps, place: rms_norm.spread(x, eps, "outside")},
    source="happy-llm#58",
)

eps_as_floor = Mutant(
    "RMS-eps-as-floor",
    story="ε is a floor under the root mean square, as in F.normalize",
    breaks={"RMS-EPS-1"},
    hint="mean square + eps",
    replace={rms_norm.spread: lambda x, eps, place: torch.sqrt(rms_norm.mean_square(x)).clamp(min=eps)},
)

eps_fixed = Mutant(
    "RMS-eps-fixed",
    story="ε is 10⁻⁶, whatever the configuration says",
    breaks={"RMS-EPS-2"},
    hint="hand config.eps on",
    replace={rms_norm.spread: lambda x, eps, place: rms_norm.spread(x, 1e-6, place)},
    source="keras-hub#728",
)

eps_of_the_dtype = Mutant(
    "RMS-eps-of-the-dtype",
    story="ε is that of the dtype, as where torch.nn.RMSNorm is given none",
    breaks={"RMS-EPS-2"},
    hint="hand config.eps on",
    replace={rms_norm.spread: lambda x, eps, place: rms_norm.spread(x, torch.finfo(x.dtype).eps, place)},
)

eps_missing = Mutant(
    "RMS-eps-missing",
    story="there is no ε: a row of zeros is 0/0",
    breaks={"RMS-EPS-2"},
    hint="torch.rsqrt(mean square + eps)",
    replace={rms_norm.spread: lambda x, eps, place: rms_norm.spread(x, 0.0, place)},
    source="TIM-VX#589",
)

zeros_become_ones = Mutant(
    "RMS-zeros-become-ones",
    story="a row of zeros becomes a row of ones",
    breaks={"RMS-ZERO-1"},
    hint="with ε it needs no exception: 0/√ε is 0",
    replace={
        rms_norm.normalize: lambda x, eps, place: torch.where(
            rms_norm.mean_square(x) == 0, torch.ones_like(x), rms_norm.normalize(x, eps, place)
        ),
    },
)


def with_root_first(x, eps, place):
    root = torch.sqrt(rms_norm.mean_square(x))
    return torch.sqrt(root.square() + eps) if place == "inside" else root + eps


root_first = Mutant(
    "RMS-root-first",
    story="the root is taken before ε is added: √x² has no slope at 0",
    breaks={"RMS-ZERO-2"},
    hint="take one root, after ε is added; x.norm(dim=-1) has a slope at 0",
    replace={rms_norm.spread: with_root_first},
)
