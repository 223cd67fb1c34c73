"""curated_transformers' QueryKeyRotaryEmbeddings: position -1 is turned as position 511, the last row of the table.

Requirement: ROPE-POS-4
Project: curated-transformers 2.0.1
On it: https://github.com/explosion/curated-transformers/blob/main/curated_transformers/layers/embeddings.py takes rows
    by indexing; nothing was found that speaks of negative positions.
This is: an ambiguity: a rotation by a negative angle is well defined, and it is neither given nor refused.

Prints:

    position -1 is position 511: True
"""

import torch
from curated_transformers.layers.embeddings import QueryKeyRotaryEmbeddings

module, x = QueryKeyRotaryEmbeddings(fraction=1.0, head_width=8), torch.ones(1, 1, 1, 8)
turned = {place: module(query=x, key=x, positions=torch.tensor([[place]]))[0] for place in (-1, 1, 511)}
print("position -1 is position 511:", torch.equal(turned[-1], turned[511]))
