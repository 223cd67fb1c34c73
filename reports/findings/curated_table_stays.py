"""curated_transformers' SinusoidalPositionalEmbedding: module.to moves its table to no dtype and to no device.

Requirement: CALL-DTYPE-1, CALL-DTYPE-2
Project: curated-transformers 2.0.1
On it: https://github.com/explosion/curated-transformers/blob/main/curated_transformers/layers/embeddings.py keeps the
    table as an attribute; the rotary embedding below has buffers.
This is: a bug: a plain attribute in the place of a buffer.

Prints:

    .to(torch.float64): torch.float32
    .to("meta"): cpu
"""

import torch
from curated_transformers.layers.embeddings import SinusoidalPositionalEmbedding

ids = torch.zeros(1, 3, dtype=torch.long)
module = SinusoidalPositionalEmbedding(width=4, max_len=8, normalize=False)
print(".to(torch.float64):", module.to(torch.float64)(ids).dtype)
print('.to("meta"):', module.to("meta")(ids.to("meta")).device)
