"""mlx's scaled_dot_product_attention in float64 on the CPU: exp is computed in float32, and so is the softmax.

Requirement: ATT-PREC-2
Project: mlx 0.32.4
On it: https://github.com/ml-explore/mlx/issues/3047 lists exp among what falls back to float32; open.
On it: https://github.com/ml-explore/mlx/issues/4158 has its error, beside that of other functions, which are exact;
    closed.
This is: a bug: so say its maintainers, of low priority. nn.MultiHeadAttention is the same, as it calls this.

Prints:

    exp: the error is that of float32
    q @ k: the error is that of float64
    attention: the error is that of float32
"""

import mlx.core as mx
import numpy as np

mx.set_default_device(mx.cpu)
query, key, value = np.random.default_rng(0).standard_normal((3, 1, 1, 5, 8))
scores = 0.5 * query @ key.swapaxes(2, 3)  # 0.5 is the same number in float32, in which the scale is handed on
weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
double = [mx.array(x, dtype=mx.float64) for x in (query, key, value, scores)]
errors = {
    "exp": np.abs(np.array(mx.exp(double[3])) / np.exp(scores) - 1).max(),
    "q @ k": np.abs(np.array(double[0] @ double[1].swapaxes(2, 3)) - query @ key.swapaxes(2, 3)).max(),
    "attention": np.abs(np.array(mx.fast.scaled_dot_product_attention(*double[:3], scale=0.5)) - weights @ value).max(),
}
for name, error in errors.items():
    print(f"{name}: the error is {'that of float32' if error > 1e-10 else 'that of float64'}")
