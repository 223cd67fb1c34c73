"""x_transformers' AbsolutePositionalEmbedding: the rows of the table come out divided by √dim.

Requirement: LRN-ROW-1
Project: x-transformers 2.31.10
On it: https://github.com/lucidrains/x-transformers/blob/main/x_transformers/x_transformers.py has it as self.scale;
    nothing was found that explains it.
This is: an ambiguity: it is meant, and told by the code alone; a table that was trained elsewhere has to be multiplied
    first.

Prints:

    row by output: 4.00
"""

import torch
from x_transformers.x_transformers import AbsolutePositionalEmbedding

layer = AbsolutePositionalEmbedding(16, 8)
out = layer(torch.zeros(1, 8, 16))
print(f"row by output: {(layer.emb.weight / out).mean():.2f}")
