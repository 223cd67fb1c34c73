import torch
from torch import nn


class BatchedAttention(nn.Module):
    '''all inputs are 3-d: (whatever, length, size). The caller says by what to divide.'''

    def __init__(self, temperature, p_drop=0.0):
        super().__init__()
        self.tau = temperature
        self.drop = nn.Dropout(p_drop)
        self.normalise = nn.Softmax(dim=-1)

    def forward(self, q, k, v, mask=None):
        energy = torch.bmm(q / self.tau, k.mT)
        if mask is not None:
            # True means: do not look
            energy[mask] = -torch.inf
        p = self.drop(self.normalise(energy))
        return torch.bmm(p, v), p


def build(d_k):
    return BatchedAttention(temperature=d_k ** 0.5)
