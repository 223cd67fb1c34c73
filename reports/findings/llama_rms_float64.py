"""transformers' LlamaRMSNorm in float64: it is computed in float32, and returned as float64.

Requirement: RMS-PREC-2
Project: transformers 5.23.0
On it: https://github.com/huggingface/transformers/issues/33133 is about what is cast where in half precision; closed.
This is: an ambiguity: the cast to float32 is meant for half precision, and of float64 nothing is said.

Prints:

    torch.float64, the error is that of float32
"""

import torch
from transformers.models.llama.modeling_llama import LlamaRMSNorm

torch.manual_seed(0)
x = torch.randn(2, 64, dtype=torch.float64)
want = x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()
out = LlamaRMSNorm(64, eps=1e-6).double()(x)
error = (out - want).abs().max()
print(f"{out.dtype}, the error is {'that of float32' if error > 1e-10 else 'that of float64'}")
