"""mlx's attention: a query without keys gets the mean of all values, or NaN, by how they are hidden.

Requirement: MASK-EMPTY-5
Project: mlx 0.32.4
On it: https://github.com/ml-explore/mlx/pull/2608 made finite numbers of NaN in such rows, as NaN breaks batches;
    merged.
On it: https://github.com/ml-explore/mlx/issues/2395 would have zeros, as PyTorch has; closed.
This is: an ambiguity: a mask of numbers is added as it is, and -inf in all of a row is NaN still. nn.MultiHeadAttention
    is the same, as it calls this.

Prints:

    a mask of True and False: the mean of the values
    a mask of numbers: NaN
"""

import mlx.core as mx

mx.random.seed(0)
query, key, value = mx.random.normal((3, 1, 1, 3, 4))
masks = {"True and False": mx.zeros((3, 3), dtype=mx.bool_), "numbers": mx.full((3, 3), -mx.inf)}
for name, mask in masks.items():
    out = mx.fast.scaled_dot_product_attention(query, key, value, scale=0.5, mask=mask)
    mean = mx.allclose(out, value.mean(axis=2, keepdims=True), atol=1e-5)
    print(f"a mask of {name}:", "the mean of the values" if mean else "NaN" if mx.isnan(out).all() else out)
