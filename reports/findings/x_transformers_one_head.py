"""x_transformers.Attention: with one head there is no output projection, and the output has the width of the head.

Requirement: CALL-SHAPE-1
Project: x-transformers 2.31.10
On it: https://github.com/lucidrains/vit-pytorch/issues/335 asks why the author's ViT leaves the projection out; there
    only where one head is as wide as the model; open.
This is: a bug: where the head is not as wide as the model, the output does not fit the residual.

Prints:

    dim=32, heads=2, dim_head=16: 32 features become 32
    dim=32, heads=1, dim_head=16: 32 features become 16
"""

import torch
from x_transformers import Attention

for heads in (2, 1):
    out = Attention(32, heads=heads, dim_head=16)(torch.randn(1, 4, 32))
    print(f"dim=32, heads={heads}, dim_head=16: 32 features become {out.shape[-1]}")
