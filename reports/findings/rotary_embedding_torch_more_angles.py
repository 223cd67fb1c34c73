"""rotary_embedding_torch's apply_rotary_emb: of six angles for five tokens the last five are taken, in silence.

Requirement: ROPE-POS-3
Project: rotary-embedding-torch 0.9.1
On it: https://github.com/lucidrains/rotary-embedding-torch/pull/2 asks for queries that stand at the last keys, for
    which this is; closed.
This is: an ambiguity: right for queries behind a cache of keys, and elsewhere a mistake that is not seen. Fewer angles
    than tokens are an error.

Prints:

    6 angles for 5 tokens: as the last 5
    4 angles for 5 tokens: RuntimeError: The size of tensor a (5) must match the size of tensor b (4)
"""

import torch
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb

torch.manual_seed(0)
embedding, x = RotaryEmbedding(8), torch.randn(1, 1, 5, 8)
six, last = (apply_rotary_emb(embedding(torch.arange(first, 6)), x) for first in (0, 1))
print("6 angles for 5 tokens:", "as the last 5" if torch.equal(six, last) else "another")
try:
    apply_rotary_emb(embedding(torch.arange(4)), x)
except RuntimeError as error:
    print("4 angles for 5 tokens: RuntimeError:", str(error).partition(" at ")[0])
