import torch


class FeatureNorm(torch.nn.Module):
    """Zero mean and unit deviation over the features, then a learned affine map."""

    def __init__(self, n_features, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.gain = torch.nn.Parameter(torch.ones(n_features))
        self.offset = torch.nn.Parameter(torch.zeros(n_features))

    def forward(self, h):
        centre, width = h.mean(dim=-1, keepdim=True), h.std(dim=-1, keepdim=True)
        return self.gain * (h - centre) / (width - self.eps) + self.offset
