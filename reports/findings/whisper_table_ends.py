"""transformers' WhisperPositionalEmbedding: beyond its table there are fewer rows than tokens, and no error.

Requirement: LRN-BEYOND-1
Project: transformers 5.23.0
On it: https://github.com/huggingface/transformers/issues/27368 is the error that comes later, where the rows are added
    to the tokens; closed.
This is: a bug: what is too long is refused by an addition elsewhere, or broadcast where a single row is left.

Prints:

    6 tokens: 4 rows
    6 tokens behind 3 others: 1 row
"""

import torch
from transformers.models.whisper.modeling_whisper import WhisperPositionalEmbedding

layer = WhisperPositionalEmbedding(4, 8)
tokens = torch.zeros(1, 6, dtype=torch.long)
print("6 tokens:", len(layer(tokens)), "rows")
print("6 tokens behind 3 others:", len(layer(tokens, past_key_values_length=3)), "row")
