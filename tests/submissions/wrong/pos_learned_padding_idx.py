import torch
from torch import nn


class BertPositions(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size, padding_idx=0)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, word_vectors):
        length = word_vectors.size(1)
        position_ids = torch.arange(length, dtype=torch.long, device=word_vectors.device)
        return self.dropout(word_vectors + self.position_embeddings(position_ids)[None])
