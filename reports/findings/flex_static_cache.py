"""transformers' flex_attention with a StaticCache: without a padding mask, tokens see the ones behind them.

Requirement: MASK-CAUSAL-1
Project: transformers 5.23.0
On it: https://github.com/huggingface/transformers/issues/46682 is about the shape of the same offset; closed.
This is: a bug: the mask adds the cache's count of tokens, a tensor that the cache changes in place before the mask is
    evaluated. Of three tokens behind five the first is taken for the ninth, and sees the others, and empty slots.

Prints:

    eager, DynamicCache: a change of the last token reaches no other
    eager, StaticCache: a change of the last token reaches no other
    flex_attention, DynamicCache: a change of the last token reaches no other
    flex_attention, StaticCache: a change of the last token reaches an earlier one
"""

import torch
from transformers import DynamicCache, LlamaConfig, LlamaModel, StaticCache

torch.compiler.set_stance("force_eager")  # it is the same compiled, which takes a minute
config = LlamaConfig(vocab_size=16, hidden_size=32, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2)
beginning = torch.tensor([[1, 2, 3, 4, 5]])
for backend in ("eager", "flex_attention"):
    model = LlamaModel._from_config(config, attn_implementation=backend).eval()
    for kind in (DynamicCache, StaticCache):
        outs = []
        for last in (8, 9):
            cache = kind(config=config) if kind is DynamicCache else kind(config=config, max_cache_len=12)
            with torch.no_grad():
                model(beginning, past_key_values=cache)
                outs.append(model(torch.tensor([[6, 7, last]]), past_key_values=cache).last_hidden_state)
        same = torch.allclose(outs[0][:, :2], outs[1][:, :2], atol=1e-6)
        print(
            f"{backend}, {kind.__name__}: a change of the last token reaches", "no other" if same else "an earlier one"
        )
