"""transformers' LlamaRotaryEmbedding: module.to(bfloat16) rounds the frequencies, late angles are off; GPT-NeoX too.

Requirement: ROPE-HALF-1
Project: transformers 5.23.0
On it: https://github.com/huggingface/transformers/issues/25681 reports it; one answer is not to cast the model; closed.
On it: https://github.com/huggingface/transformers/issues/29496 has the effect in training; closed.
This is: an ambiguity: a model that is loaded in bfloat16 keeps the frequencies in float32 and is right; one that is
    cast is not.

Prints:

    LlamaRotaryEmbedding: the cosines of token 2000 are off by more than 0.1
    GPTNeoXRotaryEmbedding: the cosines of token 2000 are off by more than 0.1
"""

import torch
from transformers.models.gpt_neox.modeling_gpt_neox import GPTNeoXConfig, GPTNeoXRotaryEmbedding
from transformers.models.llama.modeling_llama import LlamaConfig, LlamaRotaryEmbedding

position, x = torch.tensor([[2000]]), torch.zeros(1, 1, 128)
kinds = {LlamaRotaryEmbedding: LlamaConfig, GPTNeoXRotaryEmbedding: GPTNeoXConfig}
for kind, options in kinds.items():
    config = options(hidden_size=128, num_attention_heads=1)
    right = kind(config)(x, position)[0]
    cast = kind(config).to(torch.bfloat16).float()(x, position)[0]
    error = (cast - right).abs().max()
    print(f"{kind.__name__}: the cosines of token 2000 are off by {'more than 0.1' if error > 0.1 else f'{error:.1e}'}")
