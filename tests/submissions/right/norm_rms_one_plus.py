import torch
import torch.nn as nn


class ZeroCentredRMSNorm(nn.Module):
    """Weights start at 0 and mean 1 + weight, so weight decay pulls them to 'no scaling'."""

    def __init__(self, num_features, *, epsilon=1e-6):
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(num_features))
        self.epsilon = epsilon

    def forward(self, inputs):
        if inputs.shape[-1] != len(self.scale):
            raise ValueError("num_features")
        acc = inputs if inputs.dtype == torch.float64 else inputs.to(torch.float32)
        ms = acc.square().mean(dim=-1, keepdim=True)
        acc = acc / torch.sqrt(ms + self.epsilon)
        acc = acc * (1.0 + self.scale.to(acc.dtype))
        return acc.to(inputs.dtype)
