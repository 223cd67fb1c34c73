import torch
from torch import nn


class AttentionWithLengths(nn.Module):
    """dot product attention over padded memories; `lengths` are the true sizes of the memories"""

    def forward(self, query, memory_keys, memory_values, lengths=None):
        weight = query.matmul(memory_keys.transpose(1, 2)) * query.size(-1) ** -0.5
        if lengths is not None:
            idx = torch.arange(memory_keys.size(1), device=query.device)
            invalid = idx[None, :] > lengths[:, None]
            weight = weight.masked_fill(invalid[:, None, :], float('-inf'))
        return weight.softmax(dim=-1).matmul(memory_values)
