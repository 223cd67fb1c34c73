"""transformers' LlamaRotaryEmbedding: module.to(bfloat16) rounds the frequencies: late angles are off by radians.

Requirement: ROPE-HALF-1
Project: transformers 5.23.0
On it: https://github.com/huggingface/transformers/issues/25681 reports it; one answer is not to cast the model;
    closed.
On it: https://github.com/huggingface/transformers/issues/29496 has the effect in training; closed.
This is: an ambiguity: a model that is loaded in bfloat16 keeps the frequencies in float32 and is right; one that is
    cast is not.

Prints:

    the cosines of token 2000 are off by more than 1
"""

import torch
from transformers.models.llama.modeling_llama import LlamaConfig, LlamaRotaryEmbedding

config = LlamaConfig(hidden_size=128, num_attention_heads=1)
position, x = torch.tensor([[2000]]), torch.zeros(1, 1, 128)
right = LlamaRotaryEmbedding(config)(x, position)[0]
cast = LlamaRotaryEmbedding(config).to(torch.bfloat16).float()(x, position)[0]
error = (cast - right).abs().max()
print("the cosines of token 2000 are off by", "more than 1" if error > 1 else f"{error:.1e}")
