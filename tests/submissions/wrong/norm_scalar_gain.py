import torch


class RMSNorm(torch.nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.g = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        if x.shape[-1] != self.dim:
            raise ValueError("wrong width")
        h = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        h = h / (h.square().mean(-1, keepdim=True) + self.eps).sqrt()
        return (h * self.g).type_as(x)
