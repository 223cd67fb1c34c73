"""transformers' LlamaAttention: a batch of no samples, or samples of no tokens, are an error.

Requirement: CALL-EMPTY-1
Project: transformers 5.23.0
On it: https://github.com/wonjune-kang/llm-speech-summarization/issues/10 is a user who came to it; closed.
On it: https://github.com/deepseek-ai/DeepSeek-VL2/issues/9 is another one; open.
This is: a bug: the view leaves the number of heads open, which is known; nn.MultiheadAttention gives an empty tensor.

Prints:

    0 samples of 3 tokens, nn.MultiheadAttention: (0, 3, 8)
    LlamaAttention: RuntimeError: cannot reshape tensor of 0 elements into shape [0, 3, -1, 4]
    1 samples of 0 tokens, nn.MultiheadAttention: (1, 0, 8)
    LlamaAttention: RuntimeError: cannot reshape tensor of 0 elements into shape [1, 0, -1, 4]
"""

import torch
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaConfig, LlamaRotaryEmbedding

config = LlamaConfig(hidden_size=8, num_attention_heads=2, attn_implementation="eager")
attention, rotary = LlamaAttention(config, layer_idx=0), LlamaRotaryEmbedding(config)
other = torch.nn.MultiheadAttention(8, 2, batch_first=True)
for samples, tokens in ((0, 3), (1, 0)):
    x, places = torch.zeros(samples, tokens, 8), torch.arange(tokens).expand(samples, tokens)
    print(f"{samples} samples of {tokens} tokens, nn.MultiheadAttention:", tuple(other(x, x, x)[0].shape))
    try:
        print("LlamaAttention:", tuple(attention(x, rotary(x, places), None)[0].shape))
    except RuntimeError as error:
        print("LlamaAttention: RuntimeError:", str(error).partition(" because")[0])
