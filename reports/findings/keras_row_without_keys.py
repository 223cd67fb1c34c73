"""keras.layers.MultiHeadAttention: a query without keys gets the mean of all values, or zeros with scores returned.

Requirement: MASK-EMPTY-2, MASK-EMPTY-4
Project: keras 3.15.1
On it: https://github.com/keras-team/keras/pull/21149 made zeros of a softmax whose entries are all masked, as JAX has
    it, for which issue 21123 asked; merged.
This is: a bug: that way is taken only where scores are returned, or dropped; a flag that asks for one result more
    changes the other one, and the gradient of a query that attends to nothing is not 0.

Prints:

    return_attention_scores=False: query 0 gets the mean, and its gradient is another than 0
    return_attention_scores=True: query 0 gets zeros, and its gradient is 0
"""

import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import torch

keras.utils.set_random_seed(0)
layer, x = keras.layers.MultiHeadAttention(2, 4), torch.randn(1, 3, 8)
layer(x, x)
mean = layer(torch.zeros_like(x), x)[0, 0]  # of queries and biases of 0 all scores are 0
keep = torch.tensor([[[False] * 3, [True] * 3, [True] * 3]])  # query 0 may attend to nothing
for scores in (False, True):
    query = x.clone().requires_grad_()
    out = layer(query, x, attention_mask=keep, return_attention_scores=scores)
    row = (out[0] if scores else out)[0, 0]
    (gradient,) = torch.autograd.grad(row.square().sum(), query)
    what = "zeros" if not row.any() else "the mean" if torch.allclose(row, mean, atol=1e-5) else "something else"
    slope = "another than 0" if gradient[0, 0].any() else "0"
    print(f"return_attention_scores={scores}: query 0 gets {what}, and its gradient is {slope}")
