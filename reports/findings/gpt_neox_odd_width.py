"""transformers' GPTNeoXRotaryEmbedding: where a fraction of the features is an odd number, one feature more turns.

Requirement: ROPE-WIDTH-1
Project: transformers 5.23.0
On it: https://github.com/huggingface/transformers/issues/35233 is the error that it once was; closed.
On it: https://github.com/huggingface/transformers/pull/35610 made the model anew; merged.
This is: a bug: what was an error of shapes is now silent; features turn in pairs, and three have none to turn with.

Prints:

    0.2 of 10 features: 2 turn
    0.3 of 10 features: 4 turn
    0.4 of 10 features: 4 turn
"""

import torch
from transformers import GPTNeoXConfig
from transformers.models.gpt_neox.modeling_gpt_neox import GPTNeoXRotaryEmbedding, apply_rotary_pos_emb

for fraction in (0.2, 0.3, 0.4):
    parameters = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": fraction}
    config = GPTNeoXConfig(hidden_size=10, num_attention_heads=1, rope_parameters=parameters)
    x = torch.ones(1, 1, 5, 10)
    turned, _ = apply_rotary_pos_emb(x, x, *GPTNeoXRotaryEmbedding(config)(x, torch.arange(5)[None]))
    print(f"{fraction} of 10 features: {int((turned != x).any(2).sum())} turn")
