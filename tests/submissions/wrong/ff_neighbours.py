from torch import nn


class ConvFFN(nn.Module):
    """position-wise network as two convolutions over the sequence"""

    def __init__(self, model_dim, inner_dim):
        super().__init__()
        self.expand = nn.Conv1d(model_dim, inner_dim, kernel_size=3, padding=1)
        self.shrink = nn.Conv1d(inner_dim, model_dim, kernel_size=1)

    def forward(self, x):
        y = x.transpose(1, 2)
        y = self.shrink(self.expand(y).relu())
        return y.transpose(1, 2)
