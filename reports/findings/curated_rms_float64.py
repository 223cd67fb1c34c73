"""curated_transformers' RMSNorm in float64: the mean square is taken in float32.

Requirement: RMS-PREC-2
Project: curated-transformers 2.0.1
On it: https://github.com/explosion/curated-transformers/blob/main/curated_transformers/layers/normalization.py says
    that squares and means of lower precision than float32 get way off, and casts to float32 for it.
This is: an ambiguity: the cast is meant for half precision, and of float64 nothing is said.

Prints:

    torch.float64, the error is that of float32
"""

import torch
from curated_transformers.layers.normalization import RMSNorm

torch.manual_seed(0)
x = torch.randn(2, 64, dtype=torch.float64)
want = x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()
out = RMSNorm(64, eps=1e-6).double()(x)
error = (out - want).abs().max()
print(f"{out.dtype}, the error is {'that of float32' if error > 1e-10 else 'that of float64'}")
