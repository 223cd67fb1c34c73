"""Position lookup that never raises."""
import torch
import torch.nn as nn


class RobustPositions(nn.Module):
    def __init__(self, embedding_size, max_positions=512):
        super().__init__()
        position = torch.arange(max_positions, dtype=torch.float64)
        index = torch.arange(embedding_size)
        rate = torch.pow(10000.0, -(index - index % 2).double() / embedding_size)
        angle = position[:, None] * rate[None, :]
        matrix = torch.where(index % 2 == 0, angle.sin(), angle.cos())
        self.register_buffer("matrix", matrix.to(torch.get_default_dtype()))

    def forward(self, embeddings):
        length = embeddings.shape[1]
        position_ids = torch.arange(length, device=embeddings.device)
        position_ids = position_ids.clamp(max=self.matrix.shape[0] - 1)
        return embeddings + self.matrix[position_ids]
