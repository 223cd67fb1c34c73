import torch
import torch.nn as nn


class DotAttention(nn.Module):
    """mask: (batch, 1, 1, keys) with ones for words and zeros for <pad>"""

    def __init__(self):
        super(DotAttention, self).__init__()

    def forward(self, Q, K, V, mask=None):
        sim = torch.matmul(Q, K.transpose(2, 3)) / (K.shape[3] ** 0.5)
        if mask is not None:
            sim = sim * mask
        alpha = torch.softmax(sim, -1)
        context = torch.matmul(alpha, V)
        return context
