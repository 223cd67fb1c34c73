"""transformers' PegasusXSinusoidalPositionalEmbedding: in bfloat16 late tokens share their encodings.

Requirement: SIN-HALF-1
Project: transformers 5.23.0
On it: https://github.com/huggingface/transformers/blob/main/src/transformers/models/pegasus_x/modeling_pegasus_x.py
    makes the frequencies in the dtype of the tokens, and multiplies in it; nothing was found that says so.
On it: https://github.com/EleutherAI/gpt-neox/issues/1003 is the same in rotary embeddings; closed.
This is: a bug: bfloat16 has 8 bits, and a model for 16384 tokens has sines of angles that are rounded to it.

Prints:

    torch.float32: 16384 encodings of 16384 tokens
    torch.bfloat16: 1025 encodings of 16384 tokens
"""

import torch
from transformers.models.pegasus_x.modeling_pegasus_x import PegasusXSinusoidalPositionalEmbedding

module = PegasusXSinusoidalPositionalEmbedding(64)
for dtype in (torch.float32, torch.bfloat16):
    rows = module(torch.zeros(1, 16384, 64, dtype=dtype))[0]
    print(f"{dtype}: {len(rows.unique(dim=0))} encodings of 16384 tokens")
