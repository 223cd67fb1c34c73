"""x_transformers' apply_rotary_pos_emb: of six angles for five tokens the last five are taken, in silence.

Requirement: ROPE-POS-3
Project: x-transformers 2.31.10
On it: https://github.com/lucidrains/x-transformers/blob/main/x_transformers/x_transformers.py cuts the angles to the
    last ones, as queries behind a cache of keys need it; nothing was found that says so.
This is: an ambiguity: right for these queries, and elsewhere a mistake that is not seen. Fewer angles than tokens are
    an error.

Prints:

    6 angles for 5 tokens: as the last 5
    4 angles for 5 tokens: RuntimeError: The size of tensor a (5) must match the size of tensor b (4)
"""

import torch
from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

torch.manual_seed(0)
embedding, x = RotaryEmbedding(8), torch.randn(1, 1, 5, 8)
six, last = (apply_rotary_pos_emb(x, *embedding(torch.arange(first, 6))) for first in (0, 1))
print("6 angles for 5 tokens:", "as the last 5" if torch.equal(six, last) else "another")
try:
    apply_rotary_pos_emb(x, *embedding(torch.arange(4)))
except RuntimeError as error:
    print("4 angles for 5 tokens: RuntimeError:", str(error).partition(" at ")[0])
