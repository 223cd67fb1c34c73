"""keras.layers.Embedding on PyTorch: all ids are cast to int32: 2⁴⁰ is taken for 0, 1.9 and True for 1.

Requirement: EMB-BEYOND-1, EMB-FLOAT-1, EMB-BOOL-1
Project: keras 3.15.1
On it: https://github.com/keras-team/keras/blob/master/keras/src/layers/core/embedding.py means to leave int32 and int64
    as they are, and compares their names with inputs.dtype, which on PyTorch is no name.
This is: a bug: int64 is cast too; that numbers and truth values are cast is meant.

Prints:

    torch.int64 1099511627776 of 5: the row of id 0
    torch.int64 4294967299 of 5: the row of id 3
    torch.float32 1.899999976158142 of 5: the row of id 1
    torch.bool True of 5: the row of id 1
    torch.int64 5 of 5: IndexError
"""

import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import torch

keras.utils.set_random_seed(0)
layer = keras.layers.Embedding(5, 2)
rows = layer(torch.arange(5))
for ids in (torch.tensor([2**40]), torch.tensor([2**32 + 3]), torch.tensor([1.9]), torch.tensor([True])):
    found = next(i for i in range(5) if torch.equal(layer(ids)[0], rows[i]))
    print(f"{ids.dtype} {ids[0]} of 5: the row of id {found}")
try:
    layer(torch.tensor([5]))
except IndexError:
    print("torch.int64 5 of 5: IndexError")
