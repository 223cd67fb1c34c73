"""F.scaled_dot_product_attention on the CPU: with one value less than keys, the last key is dropped in silence.

Requirement: ATT-ERROR-1
Project: torch 2.13.0
On it: https://github.com/pytorch/pytorch/pull/193728 says that the documentation wants one length S for both, that
    only the CPU's flash kernel takes two, and that it reads past the keys where there is a value more; open.
This is: a bug: the same call is an error with another kernel.

Prints:

    default: as without key 4
    math: RuntimeError
"""

import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

torch.manual_seed(0)
query, key, value = torch.randn(1, 1, 3, 8), torch.randn(1, 1, 5, 8), torch.randn(1, 1, 4, 8)
dropped = F.scaled_dot_product_attention(query, key[:, :, :4], value)
print(
    "default:",
    "as without key 4" if torch.equal(F.scaled_dot_product_attention(query, key, value), dropped) else "another",
)
try:
    with sdpa_kernel(SDPBackend.MATH):
        F.scaled_dot_product_attention(query, key, value)
except RuntimeError:
    print("math: RuntimeError")
