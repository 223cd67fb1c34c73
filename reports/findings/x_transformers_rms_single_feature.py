"""x_transformers' RMSNorm: a single feature becomes as many as the weight has.

Requirement: RMS-MISFIT-2
Project: x-transformers 2.31.10
On it: https://github.com/lucidrains/x-transformers/blob/main/x_transformers/x_transformers.py multiplies by the weight;
    nothing was found that says so.
This is: an ambiguity: broadcasting does it, and other widths are an error. torch.nn.RMSNorm refuses this one too.

Prints:

    x_transformers: (2, 1) becomes (2, 5)
    torch.nn: RuntimeError: Given normalized_shape=[5]
"""

import torch
from x_transformers.x_transformers import RMSNorm

for name, norm in {"x_transformers": RMSNorm(5), "torch.nn": torch.nn.RMSNorm(5)}.items():
    try:
        print(f"{name}: (2, 1) becomes", tuple(norm(torch.ones(2, 1)).shape))
    except RuntimeError as error:
        print(f"{name}: RuntimeError: {str(error).partition(',')[0]}")
