"""keras.layers.MultiHeadAttention on PyTorch's CPU: with one value less than keys, the last key is dropped in silence.

Requirement: ATT-ERROR-1
Project: keras 3.15.1
On it: https://github.com/pytorch/pytorch/pull/193728 says that only PyTorch's CPU flash kernel takes two lengths; open.
On it: https://github.com/keras-team/keras/blob/master/keras/src/layers/attention/multi_head_attention.py compares the
    lengths of keys and values where the layer is built, which is in its first call.
This is: a bug: what the first call refuses, later ones hand on to PyTorch's kernel.

Prints:

    4 values for 5 keys in the first call: ValueError: All dimensions of `value` and `key`
    in a later one: as without key 4
"""

import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import torch

keras.utils.set_random_seed(0)
layer, x = keras.layers.MultiHeadAttention(2, 4), torch.randn(1, 5, 8)
try:
    layer(x, value=x[:, :4], key=x)
except ValueError as error:
    print(f"4 values for 5 keys in the first call: ValueError: {str(error).partition(',')[0]}")
layer(x, value=x, key=x)
out, dropped = layer(x, value=x[:, :4], key=x), layer(x, value=x[:, :4], key=x[:, :4])
print("in a later one:", "as without key 4" if torch.equal(out, dropped) else "another")
