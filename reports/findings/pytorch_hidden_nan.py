"""F.scaled_dot_product_attention: NaN in a value that the mask hides reaches the output.

Requirement: MASK-NAN-1
Project: torch 2.13.0
On it: https://github.com/pytorch/pytorch/issues/101967 reports it, and expects that the output does not depend on what
    is hidden; closed.
This is: an ambiguity: a weight of 0 times NaN is NaN as IEEE 754 has it, and the documentation says of a mask only that
    what is False takes no part.

Prints:

    hidden values 10000000000.0: 0 of 8 features are NaN
    the same in MultiheadAttention: 0 of 8
    hidden values nan: 8 of 8 features are NaN
    the same in MultiheadAttention: 8 of 8
"""

import torch
from torch.nn import functional as F

torch.manual_seed(0)
query, key, value = torch.randn(3, 1, 1, 2, 4)
attention = torch.nn.MultiheadAttention(4, 1, batch_first=True).eval()
keep = torch.tensor([[True, False], [True, False]])
for hidden in (1e10, float("nan")):
    value[..., 1, :] = hidden
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=keep)
    print(f"hidden values {hidden}: {out.isnan().sum()} of {out.numel()} features are NaN")
    out, _ = attention(query[0], key[0], value[0], attn_mask=~keep)
    print(f"the same in MultiheadAttention: {out.isnan().sum()} of {out.numel()}")
