"""nn.MultiheadAttention: a query that may attend to no key gets zeros, or NaN where the weights are returned.

Requirement: MASK-EMPTY-2
Project: torch 2.13.0
On it: https://github.com/pytorch/pytorch/issues/160064 reports it; open.
On it: https://github.com/pytorch/pytorch/issues/41508 has what it does to gradients; open since 2020.
This is: a bug: a flag that asks for one result more changes the other one.

Prints:

    need_weights=False: 0 of 4 features of query 0 are NaN
    need_weights=True: 4 of 4 features of query 0 are NaN
"""

import torch

torch.manual_seed(0)
attention = torch.nn.MultiheadAttention(4, 1, batch_first=True).eval()
x = torch.randn(1, 3, 4)
hidden = torch.tensor([[True, True, True], [False, False, False], [False, False, False]])  # all keys of query 0
for need_weights in (False, True):
    out, _ = attention(x, x, x, attn_mask=hidden, need_weights=need_weights)
    print(f"need_weights={need_weights}: {out[0, 0].isnan().sum()} of 4 features of query 0 are NaN")
