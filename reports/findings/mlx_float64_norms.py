"""mlx.nn.LayerNorm and RMSNorm in float64 on the CPU: they are computed in float32, and returned as float64.

Requirement: LN-PREC-2, RMS-PREC-2
Project: mlx 0.32.4
On it: https://github.com/ml-explore/mlx/blob/main/mlx/fast.cpp casts what goes in to float32, whatever it is.
On it: https://github.com/ml-explore/mlx/issues/3047 is about other operations that do; open.
This is: a bug: the mean and the root that they are made of are exact in float64; kernels on a GPU have no float64.

Prints:

    LayerNorm: mlx.core.float64, the error is that of float32
    RMSNorm: mlx.core.float64, the error is that of float32
"""

import mlx.core as mx
import numpy as np
from mlx import nn

mx.set_default_device(mx.cpu)
x = np.random.default_rng(0).standard_normal((2, 64))
centred = x - x.mean(-1, keepdims=True)
wanted = {
    "LayerNorm": centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 2**-17),
    "RMSNorm": x / np.sqrt((x**2).mean(-1, keepdims=True) + 2**-17),
}
for name, want in wanted.items():
    norm = getattr(nn, name)(64, eps=2**-17)
    norm.set_dtype(mx.float64)
    out = norm(mx.array(x, dtype=mx.float64))
    error = np.abs(np.array(out) - want).max()
    print(f"{name}: {out.dtype}, the error is {'that of float32' if error > 1e-10 else 'that of float64'}")
