"""Ways to get Fourier features wrong: precision, dtype, gradients, side effects."""

import torch

from attnconf.conformance.chapters.fourier.mutants.shared import features
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import fourier

narrow = Mutant(
    "FOUR-angles-in-half",
    story="angles are computed in the dtype of the coordinates, bfloat16 too",
    breaks={"FOUR-HALF-1", "FOUR-RHALF-1"},
    hint="compute angles and sines in float32, and round the features",
    replace={fourier.widen: lambda x: x},
)


def angles_under_autocast(x, frequencies):
    theta = fourier.angles(x.to(torch.bfloat16) if x.dtype == torch.float32 else x, frequencies)
    return theta.to(torch.bfloat16).to(theta.dtype) if x.dtype == torch.float32 else theta


autocast = Mutant(
    "FOUR-autocast",
    story="under autocast the product of coordinates and frequencies runs in bfloat16",
    breaks={"CALL-FLOAT-1", "FOUR-PREC-1"},
    hint="compute the angles outside autocast: with torch.autocast(x.device.type, enabled=False)",
    replace={fourier.angles: angles_under_autocast},
)


detached = Mutant(
    "FOUR-detached",
    story="the features are computed without gradients",
    breaks={"FOUR-GRAD-1"},
    hint="no torch.no_grad and no detach on the way from coordinates to features",
    replace={fourier.fourier: features(lambda x, out: out.detach())},
)

sines_detached = Mutant(
    "FOUR-sines-detached",
    story="gradients flow through the cosines only",
    breaks={"FOUR-GRAD-1"},
    hint="no detach on the way from coordinates to features",
    replace={fourier.join: lambda sines, cosines: fourier.join(sines.detach(), cosines)},
)


def fourier_in_chunks(x, frequencies):
    out = fourier.fourier(x, frequencies)
    return torch.cat([out[:64], *(out[:64][: len(chunk)] for chunk in out[64:].split(64))]) if len(out) > 64 else out


chunks = Mutant(
    "FOUR-chunks",
    story="points are encoded in chunks of 64, and every chunk gets the features of the first",
    breaks={"FOUR-LEARN-1"},
    hint="take the points of the chunk: x[start : start + 64]",
    replace={fourier.fourier: fourier_in_chunks},
)
