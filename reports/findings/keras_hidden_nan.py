"""keras.layers.MultiHeadAttention on PyTorch: NaN in a key or a value that the mask hides reaches every output.

Requirement: MASK-NAN-1
Project: keras 3.15.1
On it: https://github.com/keras-team/keras/issues/16108 asks for NaN in the input to be filtered out by the mask, of an
    earlier version; closed.
On it: https://github.com/keras-team/keras/blob/master/keras/src/backend/torch/nn.py makes a bias of the mask, which is
    added to the scores.
This is: an ambiguity: a weight of 0 times NaN is NaN as IEEE 754 has it, and so is NaN with a number added. Where
    scores are returned, those of hidden keys are replaced.

Prints:

    hidden key 10000000000.0: of 24 features 0 are NaN, 0 where scores are returned
    hidden value 10000000000.0: of 24 features 0 are NaN, 0 where scores are returned
    hidden key nan: of 24 features 24 are NaN, 0 where scores are returned
    hidden value nan: of 24 features 24 are NaN, 24 where scores are returned
"""

import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import torch

keras.utils.set_random_seed(0)
layer, x = keras.layers.MultiHeadAttention(2, 4), torch.randn(1, 3, 8)
keep = torch.tensor([[[True, True, False]] * 3])
for hidden in (1e10, float("nan")):
    spoilt = x.index_fill(1, torch.tensor([2]), hidden)
    for name, (value, key) in {"key": (x, spoilt), "value": (spoilt, x)}.items():
        out = layer(x, value, key, attention_mask=keep)
        other, _ = layer(x, value, key, attention_mask=keep, return_attention_scores=True)
        count = [int(y.isnan().sum()) for y in (out, other)]
        print(f"hidden {name} {hidden}: of 24 features {count[0]} are NaN, {count[1]} where scores are returned")
