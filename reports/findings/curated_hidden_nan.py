"""curated_transformers' attention: NaN in a token that the mask hides reaches every output.

Requirement: MASK-NAN-1
Project: curated-transformers 2.0.1
On it: https://github.com/explosion/curated-transformers/blob/main/curated_transformers/layers/attention.py says of a
    mask that what is False is ignored in attention.
This is: an ambiguity: hidden scores are replaced, but a hidden value is multiplied by a weight of 0, and 0 times NaN is
    NaN as IEEE 754 has it.

Prints:

    hidden token 10000000000.0: of 16 features of the others 0 are NaN, in SelfAttention 0
    hidden token nan: of 16 features of the others 16 are NaN, in SelfAttention 16
"""

import torch
from curated_transformers.layers.attention import (
    AttentionHeads,
    AttentionMask,
    QkvMode,
    QkvSplitGroupedByHead,
    ScaledDotProductAttention,
    SelfAttention,
)

torch.manual_seed(0)
scorer = ScaledDotProductAttention(dropout_prob=0.0, linear_biases=None)
heads = AttentionHeads.uniform(2, QkvSplitGroupedByHead())
layer = SelfAttention(
    attention_heads=heads, attention_scorer=scorer, hidden_width=8, qkv_mode=QkvMode.SEPARATE, use_bias=True
)
mask = AttentionMask(torch.tensor([True, True, False])[None, None, None])
for hidden in (1e10, float("nan")):
    x = torch.randn(1, 3, 8)
    value = x[:, None].index_fill(2, torch.tensor([2]), hidden)
    parts = scorer(query=x[:, None], key=x[:, None], value=value, attention_mask=mask, use_causal_mask=False)
    whole, _ = layer(x.index_fill(1, torch.tensor([2]), hidden), mask)
    count = [int(out[..., :2, :].isnan().sum()) for out in (parts, whole)]
    print(f"hidden token {hidden}: of 16 features of the others {count[0]} are NaN, in SelfAttention {count[1]}")
