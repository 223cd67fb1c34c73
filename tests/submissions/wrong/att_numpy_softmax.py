import numpy as np
import torch


def softmax(a):
    a = a - a.max(axis=-1, keepdims=True)
    e = np.exp(a)
    return e / e.sum(axis=-1, keepdims=True)


def attention(q, k, v):
    """works for torch tensors of any number of leading dimensions"""
    scores = torch.matmul(q, k.transpose(-2, -1)) / np.sqrt(k.shape[-1]).item()
    weights = torch.from_numpy(softmax(scores.detach().numpy()))
    return torch.matmul(weights, v)
