"""keras.layers.MultiHeadAttention on PyTorch's CPU: with two keys, a query of NaN comes out as finite numbers.

Requirement: ATT-NAN-1
Project: keras 3.15.1
On it: https://github.com/pytorch/pytorch/issues/141128 reports zeros in the place of NaN, of PyTorch's CPU flash
    kernel; closed. Left are rows of keys that do not fill a vector register.
This is: a bug: PyTorch's, which Keras hands on; where scores are returned NaN comes out.

Prints:

    return_attention_scores=False: 0 of 8 features are NaN
    return_attention_scores=True: 8 of 8 features are NaN
"""

import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import torch

keras.utils.set_random_seed(0)
layer, x = keras.layers.MultiHeadAttention(2, 4), torch.randn(1, 2, 8)
query = torch.full((1, 1, 8), float("nan"))
for scores in (False, True):
    out = layer(query, x, return_attention_scores=scores)
    out = out[0] if scores else out
    print(f"return_attention_scores={scores}: {out.isnan().sum()} of {out.numel()} features are NaN")
