"""rotary_embedding_torch's RotaryEmbedding: in bfloat16 tokens 256 and 257 are turned alike.

Requirement: ROPE-HALF-1
Project: rotary-embedding-torch 0.9.1
On it: https://github.com/nomadkaraoke/python-audio-separator/pull/298 works around it: positions and frequencies in
    float32; merged.
On it: https://github.com/EleutherAI/gpt-neox/issues/1003 is the same elsewhere; closed.
This is: a bug: positions are counted in the dtype of the input, and bfloat16 has 8 bits. Queries in bfloat16 are
    enough; the module need not be cast.

Prints:

    torch.float32: 600 rotations of 600 tokens
    torch.bfloat16: 407 rotations of 600 tokens
"""

import torch
from rotary_embedding_torch import RotaryEmbedding

for dtype in (torch.float32, torch.bfloat16):
    turned = RotaryEmbedding(8).rotate_queries_or_keys(torch.ones(1, 1, 600, 8, dtype=dtype))[0, 0]
    print(f"{dtype}: {len(turned.unique(dim=0))} rotations of 600 tokens")
