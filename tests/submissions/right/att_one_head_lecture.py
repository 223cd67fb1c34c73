# code-along, lecture 9. sizes up here so that I can play with them
import torch
from torch import nn

CHANNELS = 24
SIZE = 8
MAX_T = 32
P = 0.1


class Head(nn.Module):
    """ a single decoder head """

    def __init__(self, size=SIZE):
        super().__init__()
        def lin():
            return nn.Linear(CHANNELS, size, bias=False)
        self.k, self.q, self.v = lin(), lin(), lin()
        self.register_buffer('lower', torch.ones(MAX_T, MAX_T).tril())
        self.drop = nn.Dropout(P)

    def forward(self, x):
        T = x.shape[1]
        affinity = self.q(x) @ self.k(x).transpose(1, 2)        # B T T
        affinity = affinity / self.k.out_features ** 0.5
        affinity = affinity.masked_fill(self.lower[:T, :T] == 0, -torch.inf)
        return self.drop(affinity.softmax(-1)) @ self.v(x)


print(Head()(torch.randn(4, MAX_T, CHANNELS)).shape)
