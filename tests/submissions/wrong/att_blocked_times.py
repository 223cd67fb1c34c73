import torch


def dot_attention(q, k, v, blocked=None):
    scores = torch.matmul(q, k.transpose(-2, -1)) / q.shape[-1] ** 0.5
    if blocked is not None:
        scores = scores * (1 - blocked)
    return torch.softmax(scores, dim=-1) @ v
