"""F.scaled_dot_product_attention on the CPU: with two keys, a query of NaN comes out as finite numbers.

Requirement: ATT-NAN-1
Project: torch 2.13.0
On it: https://github.com/pytorch/pytorch/issues/141128 reports zeros in the place of NaN; closed. Left are rows of
    fewer keys than a vector register has numbers: 16 in float32 with AVX-512, 8 with AVX2.
This is: a bug: the same call gives NaN with another kernel. nn.MultiheadAttention is the same where no weights are
    returned.

Prints:

    FLASH_ATTENTION: 0 of 8 features are NaN
    MATH: 8 of 8 features are NaN
    MultiheadAttention, need_weights=False: 0 of 8 features are NaN
    MultiheadAttention, need_weights=True: 8 of 8 features are NaN
"""

import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

torch.manual_seed(0)
query, key = torch.full((1, 1, 1, 8), float("nan")), torch.randn(1, 1, 2, 8)
for kernel in (SDPBackend.FLASH_ATTENTION, SDPBackend.MATH):
    with sdpa_kernel(kernel):
        out = F.scaled_dot_product_attention(query, key, key)
    print(f"{kernel.name}: {out.isnan().sum()} of {out.numel()} features are NaN")
attention = torch.nn.MultiheadAttention(8, 1, batch_first=True).eval()
for need_weights in (False, True):
    out, _ = attention(query[0], key[0], key[0], need_weights=need_weights)
    print(f"MultiheadAttention, need_weights={need_weights}: {out.isnan().sum()} of {out.numel()} features are NaN")
