"""x_transformers' RotaryEmbedding and ScaledSinusoidalEmbedding: after module.to(bfloat16) tokens share positions.

Requirement: ROPE-HALF-1, SIN-HALF-1
Project: x-transformers 2.31.10
On it: https://github.com/lucidrains/x-transformers/blob/main/x_transformers/x_transformers.py has the frequencies as a
    buffer, and gives positions their dtype; nothing was found that says so.
On it: https://github.com/EleutherAI/gpt-neox/issues/1003 is the same elsewhere; closed.
This is: a bug: bfloat16 has 8 bits, and cannot count. autocast is kept away from the rotary embedding, casting is not.

Prints:

    torch.float32: 600 rotations and 600 encodings of 600 tokens
    torch.bfloat16: 407 rotations and 407 encodings of 600 tokens
"""

import torch
from x_transformers.x_transformers import RotaryEmbedding, ScaledSinusoidalEmbedding

for dtype in (torch.float32, torch.bfloat16):
    angles, _ = RotaryEmbedding(8).to(dtype)(torch.arange(600))
    rows = ScaledSinusoidalEmbedding(8).to(dtype)(torch.zeros(1, 600, 8))
    count = [len(x.unique(dim=0)) for x in (angles[0], rows)]
    print(f"{dtype}: {count[0]} rotations and {count[1]} encodings of 600 tokens")
