"""positional_encodings' PositionalEncoding1D: after module.to(bfloat16) tokens 256 and 257 are one position.

Requirement: SIN-HALF-1
Project: positional-encodings 6.0.3
On it: https://github.com/tatp22/multidim-positional-encoding/blob/master/positional_encodings/torch_encodings.py has
    the frequencies as a buffer, and gives positions their dtype; nothing was found that says so.
On it: https://github.com/EleutherAI/gpt-neox/issues/1003 is the same in rotary embeddings; closed.
This is: a bug: bfloat16 has 8 bits, and cannot count. A module that is not cast is right for tokens in bfloat16.

Prints:

    not cast: 600 encodings of 600 tokens, of torch.bfloat16
    cast: 407 encodings of 600 tokens, of torch.bfloat16
"""

import torch
from positional_encodings.torch_encodings import PositionalEncoding1D

tokens = torch.zeros(1, 600, 8, dtype=torch.bfloat16)
for cast in (False, True):
    module = PositionalEncoding1D(8).to(torch.bfloat16) if cast else PositionalEncoding1D(8)
    rows = module(tokens)[0]
    print(f"{'cast' if cast else 'not cast'}: {len(rows.unique(dim=0))} encodings of 600 tokens, of {rows.dtype}")
