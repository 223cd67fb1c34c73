import torch
from torch.nn.functional import softmax


def scaled_dot_product_attention(Q, K, V, M=None):
    S = torch.matmul(Q, K.transpose(-2, -1))
    if M is not None:
        S = S.masked_fill(M == 0, float("-inf"))
    A = softmax(S, dim=-1)
    return torch.matmul(A, V), A
