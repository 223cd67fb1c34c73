"""transformers' LlamaRMSNorm: a single feature becomes as many as the weight has; so with Gemma and T5.

Requirement: RMS-MISFIT-2
Project: transformers 5.23.0
On it: https://github.com/huggingface/transformers/blob/main/src/transformers/models/llama/modeling_llama.py multiplies
    by the weight; nothing was found that says so.
This is: an ambiguity: broadcasting does it, and other widths are an error. torch.nn.RMSNorm refuses this one too.

Prints:

    LlamaRMSNorm: (2, 1) becomes (2, 5)
    GemmaRMSNorm: (2, 1) becomes (2, 5)
    T5LayerNorm: (2, 1) becomes (2, 5)
    RMSNorm: RuntimeError: Given normalized_shape=[5]
"""

import torch
from transformers.models.gemma.modeling_gemma import GemmaRMSNorm
from transformers.models.llama.modeling_llama import LlamaRMSNorm
from transformers.models.t5.modeling_t5 import T5LayerNorm

for kind in (LlamaRMSNorm, GemmaRMSNorm, T5LayerNorm, torch.nn.RMSNorm):
    try:
        print(f"{kind.__name__}: (2, 1) becomes", tuple(kind(5)(torch.ones(2, 1)).shape))
    except RuntimeError as error:
        print(f"{kind.__name__}: RuntimeError: {str(error).partition(',')[0]}")
