"""positional_encodings' PositionalEncoding1D: of an odd width the frequencies are those of the next even one.

Requirement: SIN-ODD-1
Project: positional-encodings 6.0.3
On it: https://github.com/tatp22/multidim-positional-encoding/issues/3 is an error that odd widths raised in two
    dimensions; closed as mended.
This is: an ambiguity: the paper says nothing of odd widths, and its formula with d = 5 has other frequencies.

Prints:

    the formula with d = 5: another
    the formula with d = 6, cut: this is it
"""

import torch
from positional_encodings.torch_encodings import PositionalEncoding1D

encoding = PositionalEncoding1D(5)(torch.zeros(1, 3, 5))[0, 1]  # token 1, sines and cosines in turn
for name, width in {"the formula with d = 5": 5, "the formula with d = 6, cut": 6}.items():
    angles = 10_000.0 ** (-torch.arange(0, 6, 2) / width)
    want = torch.stack((angles.sin(), angles.cos()), dim=1).flatten()[:5]
    print(f"{name}:", "this is it" if torch.allclose(encoding, want, atol=1e-6) else "another")
