"""transformers' eager attention in float64: with padding before the tokens, real tokens get NaN.

Requirement: MASK-PADDING-1
Project: transformers 5.23.0
On it: https://github.com/huggingface/transformers/issues/48459 is about the same softmax: it keeps only the digits of
    float32; closed. NaN is not mentioned.
This is: a bug: the mask is filled with the least number of float64, and the softmax is taken in float32, where that is
    -inf. A query of padding sees nothing but -inf, and its NaN is a value for the next layer.

Prints:

    eager, float32: the real tokens as they are without padding
    eager, float64: NaN in the real tokens
    sdpa, float32: the real tokens as they are without padding
    sdpa, float64: the real tokens as they are without padding
"""

import torch
from transformers import LlamaConfig, LlamaModel

config = LlamaConfig(
    vocab_size=16, hidden_size=32, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2, pad_token_id=0
)
ids, mask = torch.tensor([[0, 0, 5, 6, 7]]), torch.tensor([[0, 0, 1, 1, 1]])
places = torch.tensor([[0, 0, 0, 1, 2]])
for backend in ("eager", "sdpa"):
    for dtype in (torch.float32, torch.float64):
        torch.manual_seed(0)
        model = LlamaModel._from_config(config, attn_implementation=backend).to(dtype).eval()
        with torch.no_grad():
            got = model(ids, attention_mask=mask, position_ids=places).last_hidden_state[:, 2:]
            want = model(ids[:, 2:]).last_hidden_state
        what = "NaN in the real tokens" if got.isnan().any() else "the real tokens differ"
        if torch.allclose(got, want, atol=1e-5):
            what = "the real tokens as they are without padding"
        print(f"{backend}, {str(dtype).removeprefix('torch.')}: {what}")
