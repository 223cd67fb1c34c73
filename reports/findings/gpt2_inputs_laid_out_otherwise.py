"""transformers' Conv1D, GPT-2's linear layer: an input that is not contiguous is an error.

Requirement: CALL-LAYOUT-1
Project: transformers 5.23.0
On it: https://github.com/huggingface/transformers/blob/main/src/transformers/pytorch_utils.py flattens by view;
    nothing was found that says so.
This is: a bug: reshape in place of view takes any layout, as nn.Linear does.

Prints:

    nn.Linear: (2, 3, 5)
    Conv1D: view size is not compatible with input tensor's size and stride
"""

import torch
from transformers.pytorch_utils import Conv1D

x = torch.randn(3, 2, 4).transpose(0, 1)
print("nn.Linear:", tuple(torch.nn.Linear(4, 5)(x).shape))
try:
    print("Conv1D:", tuple(Conv1D(5, 4)(x).shape))
except RuntimeError as error:
    print("Conv1D:", str(error).partition(" (")[0])
