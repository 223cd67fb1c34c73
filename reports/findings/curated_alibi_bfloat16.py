"""curated_transformers' AttentionLinearBiases: in bfloat16 early queries cannot tell neighbouring keys apart.

Requirement: ALIBI-HALF-1
Project: curated-transformers 2.0.1
On it: https://github.com/explosion/curated-transformers/blob/main/curated_transformers/layers/attention.py has one row
    of biases for all queries of a causal layer, which counts from the last key on; nothing was found that says so.
This is: an ambiguity: the softmax cannot tell the row from the published biases, until it is rounded.

Prints:

    keys 0 to 15 have 5 biases, those of query 15
    keys 1008 to 1023 have 16 biases, those of query 1023
"""

from curated_transformers.layers.attention import AttentionLinearBiases

row = AttentionLinearBiases(n_attention_heads=2, is_causal=True, is_inverted=False).calculate_biases(1024)[0, 0, 0]
rounded = row.bfloat16()
print("keys 0 to 15 have", rounded[:16].unique().numel(), "biases, those of query 15")
print("keys 1008 to 1023 have", rounded[-16:].unique().numel(), "biases, those of query 1023")
