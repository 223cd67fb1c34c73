"""keras.layers.Embedding on PyTorch: a negative id counts from the end of the table.

Requirement: EMB-NEG-1
Project: keras 3.15.1
On it: https://github.com/keras-team/keras/issues/20145 corrects the text of the layer: its ids are not positive but
    nonnegative; closed.
On it: https://github.com/keras-team/keras/blob/master/keras/src/backend/torch/numpy.py adds the length of the table to
    what is negative, as JAX does.
This is: an ambiguity: what the layer's text does not allow, the operation below it is made for.

Prints:

    id -1 of 5: the row of id 4
    torch.nn.Embedding: IndexError: index out of range in self
"""

import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import torch

keras.utils.set_random_seed(0)
layer = keras.layers.Embedding(5, 2)
rows = layer(torch.tensor([-1, 4]))
print("id -1 of 5:", "the row of id 4" if torch.equal(rows[0], rows[1]) else rows[0])
try:
    torch.nn.Embedding(5, 2)(torch.tensor([-1]))
except IndexError as error:
    print("torch.nn.Embedding: IndexError:", error)
