import math
import torch
from torch import nn

class InputLayer(nn.Module):
    # sqrt(d_model) as in section 3.4
    def __init__(self, d_model, n_max):
        super(InputLayer, self).__init__()
        self.scale = math.sqrt(d_model)
        pe = torch.tensor([[math.sin(p / 10000 ** (j / d_model)) if j % 2 == 0 else math.cos(p / 10000 ** ((j - 1) / d_model))
                            for j in range(d_model)] for p in range(n_max)])
        self.register_buffer('pe', pe)
    def forward(self, x):
        if x.shape[1] > self.pe.shape[0]:
            raise IndexError
        return (x + self.pe[:x.shape[1]]) * self.scale
