"""keras.layers.MultiHeadAttention of dtype float64 on PyTorch: the attention is computed in float32.

Requirement: ATT-PREC-2
Project: keras 3.15.1
On it: https://github.com/keras-team/keras/issues/23704 has the cause: result_type makes float32 of float64, and layers
    on PyTorch mix the two; open.
This is: a bug: where scores are returned the same layer computes in float64.

Prints:

    return_attention_scores=False: torch.float64, the error is that of float32
    return_attention_scores=True: torch.float64, the error is that of float64
"""

import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import torch

keras.utils.set_random_seed(0)
layer, x = keras.layers.MultiHeadAttention(1, 4, dtype="float64"), torch.randn(1, 3, 4, dtype=torch.float64)
layer(x, x)
q, k, v, out = (torch.tensor(w).squeeze() for w in layer.get_weights()[::2])  # all biases are 0
want = (x @ q @ (x @ k).mT / 2).softmax(-1) @ (x @ v) @ out
for scores in (False, True):
    got = layer(x, x, return_attention_scores=scores)
    got = got[0] if scores else got
    error = (got - want).abs().max()
    print(f"return_attention_scores={scores}: {got.dtype}, the error is that of float{32 if error > 1e-10 else 64}")
