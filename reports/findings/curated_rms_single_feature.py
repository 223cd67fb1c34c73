"""curated_transformers' RMSNorm: a single feature becomes as many as the weight has.

Requirement: RMS-MISFIT-2
Project: curated-transformers 2.0.1
On it: https://github.com/explosion/curated-transformers/blob/main/curated_transformers/layers/normalization.py
    multiplies by the weight; nothing was found that says so.
This is: an ambiguity: broadcasting does it, and other widths are an error. torch.nn.RMSNorm refuses this one too.

Prints:

    curated_transformers: (2, 1) becomes (2, 5)
    torch.nn: RuntimeError: Given normalized_shape=[5]
"""

import torch
from curated_transformers.layers.normalization import RMSNorm

for name, norm in {"curated_transformers": RMSNorm(5, eps=1e-6), "torch.nn": torch.nn.RMSNorm(5, eps=1e-6)}.items():
    try:
        print(f"{name}: (2, 1) becomes", tuple(norm(torch.ones(2, 1)).shape))
    except RuntimeError as error:
        print(f"{name}: RuntimeError: {str(error).partition(',')[0]}")
