"""transformers' FalconAttention: ALiBi's bias is divided by √E together with the scores.

Requirement: ALIBI-WIDTH-1
Project: transformers 5.23.0
On it: https://github.com/NVIDIA/TensorRT-Model-Connect/pull/32 found it when a port gave other text than the original;
    merged.
On it: https://github.com/OpenNMT/CTranslate2/pull/1449 has an option of its own for it; merged.
This is: an ambiguity: published weights go with it, and ports repeat it; it is no longer ALiBi as it was published.

Prints:

    the bias as it is: another output
    the bias divided by √16: this is the output
"""

import torch
from transformers.models.falcon.modeling_falcon import FalconAttention, FalconConfig, build_alibi_tensor

torch.manual_seed(0)
config = FalconConfig(
    hidden_size=32, num_attention_heads=2, alibi=True, multi_query=False, attn_implementation="eager",
    attention_dropout=0.0, new_decoder_architecture=False,
)  # fmt: skip
attention = FalconAttention(config, layer_idx=0).eval()
attention.query_key_value.weight.data[:] = 0  # all scores are 0: the bias alone makes the weights
attention.query_key_value.weight.data.view(2, 3, 16, 32)[:, 2] = torch.randn(2, 16, 32)
attention.dense.weight.data = torch.eye(32)
x, alibi = torch.randn(1, 5, 32), build_alibi_tensor(torch.ones(1, 5, dtype=torch.long), 2, torch.float32)
out = attention(x, alibi, torch.zeros(1, 1, 5, 5))[0]
value = attention.query_key_value(x).view(1, 5, 2, 3, 16)[:, :, :, 2].transpose(1, 2)
for name, scale in {"the bias as it is": 1.0, "the bias divided by √16": 0.25}.items():
    want = ((alibi.view(1, 2, 1, 5) * scale).softmax(-1) @ value).transpose(1, 2).flatten(2)
    print(f"{name}:", "this is the output" if torch.allclose(out, want, atol=1e-5) else "another output")
