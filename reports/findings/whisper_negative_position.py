"""transformers' WhisperPositionalEmbedding: position -1 is the last row of the table.

Requirement: LRN-POS-3
Project: transformers 5.23.0
On it: https://github.com/huggingface/transformers/blob/main/src/transformers/models/whisper/modeling_whisper.py indexes
    the table, though the class is an nn.Embedding; nothing was found that says so.
This is: an ambiguity: no text has negative positions; BART's class, which is an nn.Embedding and called as one, refuses
    them.

Prints:

    Whisper, position -1 of 4: the row of position 3
    BART, position -3 of 4: IndexError: index out of range in self
"""

import torch
from transformers.models.bart.modeling_bart import BartLearnedPositionalEmbedding
from transformers.models.whisper.modeling_whisper import WhisperPositionalEmbedding

torch.manual_seed(0)
tokens, place = torch.zeros(1, 1, dtype=torch.long), torch.tensor([-1])
layer = WhisperPositionalEmbedding(4, 8)
row = layer(tokens, position_ids=place)[0]
print("Whisper, position -1 of 4:", "the row of position 3" if torch.equal(row, layer.weight[3]) else row)
try:
    BartLearnedPositionalEmbedding(4, 8)(tokens, position_ids=place - 2)  # two rows stand before position 0
except IndexError as error:
    print("BART, position -3 of 4: IndexError:", error)
