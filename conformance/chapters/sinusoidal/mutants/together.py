"""Ways to get sinusoidal positions wrong: only all of it together shows."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import sinusoidal

sixteen_frequencies = Mutant(
    "SIN-sixteen-frequencies",
    story="there are 16 frequencies, and wider models get them again",
    breaks={"SIN-ORACLE-1", "SIN-ORACLE-2"},
    hint="as many frequencies as pairs, whatever the width",
    replace={
        sinusoidal.frequencies: lambda dim, base: sinusoidal.frequencies(dim, base)[torch.arange((dim + 1) // 2) % 16],
    },
)
