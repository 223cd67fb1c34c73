"""curated_transformers' ScaledDotProductAttention: in float16 q·k overflows before it is divided, and all is NaN.

Requirement: ATT-RANGE-1
Project: curated-transformers 2.0.1
On it: https://github.com/explosion/curated-transformers/blob/main/curated_transformers/layers/attention.py multiplies
    first, and divides by √E after it; nothing was found that says so.
This is: a bug: PyTorch's kernel, which enable_torch_sdp chooses for the same layer, gives finite numbers. SelfAttention
    is the same, as it calls this.

Prints:

    enable_torch_sdp(False): [nan, nan, nan, nan]
    enable_torch_sdp(True): [1.0, 1.0, 1.0, 1.0]
"""

import torch
from curated_transformers.layers.attention import AttentionMask, ScaledDotProductAttention, enable_torch_sdp

attention = ScaledDotProductAttention(dropout_prob=0.0, linear_biases=None).eval()
x = torch.full((1, 1, 2, 4), 150, dtype=torch.float16)  # q·k is 90000, and 45000 divided by √4: float16 ends at 65504
mask = AttentionMask(torch.ones(1, 1, 1, 2, dtype=torch.bool))
for fused in (False, True):
    with enable_torch_sdp(fused):
        out = attention(query=x, key=x, value=torch.ones_like(x), attention_mask=mask, use_causal_mask=False)
    print(f"enable_torch_sdp({fused}):", out[0, 0, 0].tolist())
