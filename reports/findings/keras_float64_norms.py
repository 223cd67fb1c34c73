"""keras.layers.LayerNormalization of dtype float64: the mean and the variance are taken in float32.

Requirement: LN-PREC-2, RMS-PREC-2
Project: keras 3.15.1
On it: https://github.com/keras-team/keras/pull/20257 computes half precision in float32, and means to handle float64
    by result_type; merged.
On it: https://github.com/keras-team/keras/pull/21438 uses float32 for the computation of both norms; merged.
This is: a bug: what is cast up for half precision is cast down for float64.

Prints:

    LayerNormalization: torch.float64, the error is that of float32
    RMSNormalization: torch.float64, the error is that of float32
"""

import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

x = np.random.default_rng(0).standard_normal((2, 64))
centred = x - x.mean(-1, keepdims=True)
wanted = {
    "LayerNormalization": centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-3),
    "RMSNormalization": x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-3),
}
for name, want in wanted.items():
    out = getattr(keras.layers, name)(epsilon=1e-3, dtype="float64")(x)
    error = np.abs(out.detach().numpy() - want).max()
    print(f"{name}: {out.dtype}, the error is {'that of float32' if error > 1e-10 else 'that of float64'}")
