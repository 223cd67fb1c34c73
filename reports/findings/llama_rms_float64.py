"""transformers' LlamaRMSNorm in float64: it is computed in float32, and returned as float64; so with Gemma and T5.

Requirement: RMS-PREC-2
Project: transformers 5.23.0
On it: https://github.com/huggingface/transformers/issues/33133 is about what is cast where in half precision; closed.
This is: an ambiguity: the cast to float32 is meant for half precision, and of float64 nothing is said.

Prints:

    LlamaRMSNorm: torch.float64, the error is that of float32
    GemmaRMSNorm: torch.float64, the error is that of float32
    T5LayerNorm: torch.float64, the error is that of float32
"""

import torch
from transformers.models.gemma.modeling_gemma import GemmaRMSNorm
from transformers.models.llama.modeling_llama import LlamaRMSNorm
from transformers.models.t5.modeling_t5 import T5LayerNorm

torch.manual_seed(0)
x = torch.randn(2, 64, dtype=torch.float64)
want = x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()
for kind in (LlamaRMSNorm, GemmaRMSNorm, T5LayerNorm):
    out = kind(64, eps=1e-6).double()(x)
    error = (out - want).abs().max()
    print(f"{kind.__name__}: {out.dtype}, the error is {'that of float32' if error > 1e-10 else 'that of float64'}")
