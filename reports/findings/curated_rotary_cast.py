"""curated_transformers' QueryKeyRotaryEmbeddings: module.to(bfloat16) rounds the frequencies: late angles are wrong.

Requirement: ROPE-HALF-1
Project: curated-transformers 2.0.1
On it: https://github.com/explosion/curated-transformers/blob/main/curated_transformers/layers/embeddings.py has the
    frequencies as a buffer, of which tables are made anew for longer sequences; nothing was found that says so.
This is: an ambiguity: the tables of a module that is not cast are right, and beyond 512 tokens those of one that is are
    made of rounded frequencies.

Prints:

    tokens 0 to 99 are off by less than 1
    tokens 500 to 599 are off by more than 1
"""

import torch
from curated_transformers.layers.embeddings import QueryKeyRotaryEmbeddings

x = torch.ones(1, 1, 600, 8)
right, _ = QueryKeyRotaryEmbeddings(fraction=1.0, head_width=8)(query=x, key=x)
module, half = QueryKeyRotaryEmbeddings(fraction=1.0, head_width=8).to(torch.bfloat16), x.bfloat16()
cast, _ = module(query=half, key=half)
error = (cast.float() - right).abs().amax((0, 1, 3))
print("tokens 0 to 99 are off by", "more than 1" if error[:100].max() > 1 else "less than 1")
print("tokens 500 to 599 are off by", "more than 1" if error[500:].max() > 1 else "less than 1")
