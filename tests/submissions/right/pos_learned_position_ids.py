from typing import Optional

import torch
import torch.nn as nn
from torch import LongTensor, FloatTensor


class BertLikePositions(nn.Module):
    """Adds a trained vector for each position; position_ids only where they are not 0, 1, 2, ..."""

    def __init__(self, hidden_size: int, max_position_embeddings: int, hidden_dropout_prob: float = 0.1):
        super().__init__()
        self.position_embeddings = nn.Embedding(max_position_embeddings, hidden_size)
        self.dropout = nn.Dropout(hidden_dropout_prob)

    def forward(self, inputs_embeds: FloatTensor, position_ids: Optional[LongTensor] = None) -> FloatTensor:
        batch, length, _ = inputs_embeds.shape
        if position_ids is None:
            position_ids = torch.arange(length, device=inputs_embeds.device)
        elif position_ids.shape != (length,) and position_ids.shape != (batch, length):
            raise ValueError("position_ids must be (length,) or (batch, length)")
        embedded = self.position_embeddings(position_ids)  # an index outside of the table raises
        return self.dropout(inputs_embeds + embedded)
