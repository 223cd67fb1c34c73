"""transformers' BertSelfAttention(is_causal=True): without a mask it attends to later tokens.

Requirement: MASK-CAUSAL-1
Project: transformers 5.23.0
On it: https://github.com/huggingface/transformers/issues/46273 asks that eager attention heed module.is_causal, or say
    that it does not; closed.
This is: an ambiguity: the model makes the mask, and the flag speaks to other kernels; a layer that is built alone is
    not what it says.

Prints:

    eager: the first token's output moves with the last token
    sdpa: the first token's output stays
"""

import torch
from transformers.models.bert.modeling_bert import BertConfig, BertSelfAttention

torch.manual_seed(0)
for kernel in ("eager", "sdpa"):
    config = BertConfig(hidden_size=8, num_attention_heads=2, attn_implementation=kernel)
    layer = BertSelfAttention(config, is_causal=True).eval()
    x = torch.randn(1, 4, 8)
    later = x.clone()
    later[:, -1] += 1.0
    moved = (layer(later)[0] - layer(x)[0])[0, 0].abs().max()
    print(f"{kernel}: the first token's output", "moves with the last token" if moved > 1e-6 else "stays")
