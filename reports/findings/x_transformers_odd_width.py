"""x_transformers' RotaryEmbedding: of an odd width, one feature more turns.

Requirement: ROPE-WIDTH-1
Project: x-transformers 2.31.10
On it: https://github.com/lucidrains/x-transformers/blob/main/x_transformers/x_transformers.py makes frequencies of
    every second number below the width, and doubles them; nothing was found that says so.
This is: an ambiguity: features turn in pairs, and three are neither refused nor left as they are.

Prints:

    a width of 3: 4 features turn
    a width of 4: 4 features turn
    a width of 5: 6 features turn
"""

import torch
from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

x = torch.ones(1, 1, 5, 10)
for width in (3, 4, 5):
    turned = apply_rotary_pos_emb(x, *RotaryEmbedding(width)(torch.arange(5)))
    print(f"a width of {width}: {int((turned != x).any(2).sum())} features turn")
