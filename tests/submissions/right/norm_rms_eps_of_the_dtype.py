import torch
import torch.nn.functional as F


class QueryKeyNorm(torch.nn.Module):
    """Queries and keys get the same length before they meet. There is nothing to be set but the width."""

    def __init__(self, head_width):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.ones(head_width))

    def forward(self, heads):
        return F.rms_norm(heads, self.gain.shape, self.gain)
