"""x_transformers' RMSNorm: there is no ε, and small features are blown up to a root mean square of 1.

Requirement: RMS-EPS-2
Project: x-transformers 2.31.10
On it: https://github.com/lucidrains/x-transformers/blob/main/x_transformers/x_transformers.py normalizes by
    F.normalize, which knows a least norm only; nothing was found that explains it.
This is: an ambiguity: the paper's formula has no ε, all weights that were trained with one get other outputs here.

Prints:

    x_transformers: 1.000
    torch, eps=1e-5: 0.032
"""

import torch
from x_transformers.x_transformers import RMSNorm

x = torch.full((1, 8), 1e-4)
for name, norm in {"x_transformers": RMSNorm(8), "torch, eps=1e-5": torch.nn.RMSNorm(8, eps=1e-5)}.items():
    print(f"{name}: {norm(x)[0, 0]:.3f}")
