"""curated_transformers' create_causal_mask: with one query more than keys it hides nothing.

Requirement: MASK-CAUSAL-2
Project: curated-transformers 2.0.1
On it: https://github.com/explosion/curated-transformers/blob/main/curated_transformers/layers/attention.py takes rows
    from S - L on, which count from the end where there are more queries (L) than keys (S).
This is: an ambiguity: its own layers have no fewer keys than queries, and the function is a part of the scorer, which
    takes any; nothing is refused.

Prints:

    3 queries, 4 keys: 9 of 12 may attend
    5 queries, 4 keys: 20 of 20 may attend
"""

import torch
from curated_transformers.layers.attention import create_causal_mask

for queries in (3, 5):
    query, key = torch.zeros(1, 1, queries, 2), torch.zeros(1, 1, 4, 2)
    mask = create_causal_mask(query, key).bool_mask.expand(1, 1, queries, 4)
    print(f"{queries} queries, 4 keys: {int(mask.sum())} of {mask.numel()} may attend")
