import torch
from torch import Tensor, nn


class GainOnlyLayerNorm(nn.Module):
    """Layer norm without a shift; `bias` is there so that checkpoints of another norm can be configured, and ignored."""

    def __init__(self, features: int, bias: bool = False, eps: float = 1e-6):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(features))
        self.eps = eps

    def forward(self, tokens: Tensor) -> Tensor:
        assert tokens.shape[-1] == self.scale.numel()
        wide = tokens if tokens.dtype == torch.float64 else tokens.float()
        variance, mean = torch.var_mean(wide, dim=-1, keepdim=True, correction=0)
        return (self.scale * ((wide - mean) * torch.rsqrt(variance + self.eps))).to(tokens.dtype)
