"""F.scaled_dot_product_attention: NaN in a value that the mask hides reaches the output.

Requirement: MASK-NAN-1
Project: torch 2.13.0
On it: https://github.com/pytorch/pytorch/issues/101967 reports it, and expects that the output does not depend on what
    is hidden; closed.
This is: an ambiguity: a weight of 0 times NaN is NaN as IEEE 754 has it, and the documentation says of a mask only
    that what is False takes no part.

Prints:

    hidden values 10000000000.0: 0 of 8 features are NaN
    hidden values nan: 8 of 8 features are NaN
"""

import torch
from torch.nn import functional as F

torch.manual_seed(0)
query, key, value = torch.randn(3, 1, 1, 2, 4)
keep = torch.tensor([[True, False], [True, False]])
for hidden in (1e10, float("nan")):
    value[..., 1, :] = hidden
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=keep)
    print(f"hidden values {hidden}: {out.isnan().sum()} of {out.numel()} features are NaN")
