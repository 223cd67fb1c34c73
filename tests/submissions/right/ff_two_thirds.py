from torch import nn
from torch.nn import functional as F


class Gate(nn.Module):
    def forward(self, both):
        gate, up = both.chunk(2, dim=-1)
        return F.gelu(gate) * up


def feed_forward(d_model, expansion=4.0, p=0.0):
    """Three matrices with as many numbers as two of 4 * d_model would have: the expansion is cut by a third."""
    inside = int(2 * expansion * d_model / 3)
    return nn.Sequential(
        nn.Linear(d_model, 2 * inside, bias=False), Gate(), nn.Dropout(p), nn.Linear(inside, d_model, bias=False)
    )
