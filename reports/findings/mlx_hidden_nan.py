"""mlx's attention: NaN in a value that the mask hides reaches every output.

Requirement: MASK-NAN-1
Project: mlx 0.32.4
On it: https://github.com/ml-explore/mlx/blob/main/mlx/fast.cpp replaces hidden scores by the least finite number;
    nothing was found on hidden values.
This is: an ambiguity: a weight of 0 times NaN is NaN as IEEE 754 has it. NaN in a hidden key is replaced.

Prints:

    hidden key 10000000000.0: of 24 features 0 are NaN, in MultiHeadAttention 0
    hidden value 10000000000.0: of 24 features 0 are NaN, in MultiHeadAttention 0
    hidden key nan: of 24 features 0 are NaN, in MultiHeadAttention 0
    hidden value nan: of 24 features 24 are NaN, in MultiHeadAttention 24
"""

import mlx.core as mx
from mlx import nn

mx.random.seed(0)
layer, x, keep = nn.MultiHeadAttention(8, 2), mx.random.normal((1, 3, 8)), mx.array([[True, True, False]] * 3)
for hidden in (1e10, float("nan")):
    spoilt = mx.where(mx.arange(3)[None, :, None] == 2, hidden, x)
    for name, (key, value) in {"key": (spoilt, x), "value": (x, spoilt)}.items():
        out = mx.fast.scaled_dot_product_attention(x[None], key[None], value[None], scale=1.0, mask=keep)
        count = [mx.isnan(y).sum().item() for y in (out, layer(x, key, value, keep))]
        print(f"hidden {name} {hidden}: of 24 features {count[0]} are NaN, in MultiHeadAttention {count[1]}")
