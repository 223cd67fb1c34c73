"""transformers' build_alibi_tensor of Falcon: slopes and biases are rounded to bfloat16, whatever dtype is asked for.

Requirement: ALIBI-LONG-1, ALIBI-SLOPE-1
Project: transformers 5.23.0
On it: https://github.com/NVIDIA/TensorRT-Model-Connect/issues/667 found it when a port computed in float32, and gave
    other text on long prompts; closed.
This is: an ambiguity: published weights go with it, and ports repeat it; beyond 256 tokens neighbours share a bias.

Prints:

    tokens 0 to 255: 256 biases
    tokens 768 to 1023: 65 biases
    slope of head 0: 0.707031, published 0.707107
"""

import torch
from transformers.models.falcon.modeling_falcon import build_alibi_tensor

bias = build_alibi_tensor(torch.ones(1, 1024, dtype=torch.long), 16, torch.float32)[:, 0]
print("tokens 0 to 255:", bias[7, :256].unique().numel(), "biases")
print("tokens 768 to 1023:", bias[7, 768:].unique().numel(), "biases")
print(f"slope of head 0: {bias[0, 1]:.6f}, published {2**-0.5:.6f}")
