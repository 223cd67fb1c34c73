"""transformers' FalconModel with ALiBi: under eager attention the bias counts twice, under sdpa once.

Requirement: ALIBI-SLOPE-1
Project: transformers 5.23.0
On it: https://github.com/huggingface/transformers/issues/29946 is about other output under either, then for another
    cause; closed.
This is: a bug: the model puts the bias into the mask, and the eager attention adds it once more. The same weights give
    another output under either.

Prints:

    eager: the bias counts 2 times
    sdpa: the bias counts 1 times
"""

import torch
from transformers import FalconConfig, FalconModel
from transformers.models.falcon.modeling_falcon import build_alibi_tensor

config = FalconConfig(
    vocab_size=16, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, alibi=True, multi_query=False
)
ids, outs = torch.arange(5)[None], []
alibi = build_alibi_tensor(torch.ones(1, 5, dtype=torch.long), 2, torch.float32).view(1, 2, 1, 5)
hidden = torch.full((5, 5), -torch.inf).triu(1)
for backend in ("eager", "sdpa"):
    torch.manual_seed(0)
    model = FalconModel._from_config(config, attn_implementation=backend).eval()
    attention = model.h[0].self_attention
    attention.query_key_value.weight.data[:] = 0  # all scores are 0: the bias alone makes the weights
    attention.query_key_value.weight.data.view(2, 3, 16, 32)[:, 2] = torch.randn(2, 16, 32)
    attention.dense.weight.data = torch.eye(32)
    attention.register_forward_hook(lambda module, args, out: outs.append((args[0], out[0])))
    with torch.no_grad():
        model(ids)
        x, out = outs.pop()
        value = attention.query_key_value(x).view(1, 5, 2, 3, 16)[:, :, :, 2].transpose(1, 2)
    for times in (0, 1, 2):
        want = ((times * alibi / 4 + hidden).softmax(-1) @ value).transpose(1, 2).flatten(2)  # 4 is √16
        if torch.allclose(out, want, atol=1e-5):
            print(f"{backend}: the bias counts {times} times")
