"""Attention with an axis for each concept: no reshape anywhere."""
import torch
from torch import nn


class NamedAxes(nn.Module):
    """q, k, v: head x model x dim; o: head x dim x model."""

    def __init__(self, model, head, dim):
        super().__init__()
        self.dim = dim
        wide, narrow = model**-0.5, (head * dim) ** -0.5
        self.w = nn.ParameterDict({role: wide * torch.randn(head, model, dim) for role in ("q", "k", "v")})
        self.w["o"] = nn.Parameter(narrow * torch.randn(head, dim, model))

    def forward(self, x, hidden=None):
        # hidden: batch x key, True where there is no token
        q, k, v = (torch.einsum("blm,hmd->hbld", x, self.w[role]) for role in ("q", "k", "v"))
        scores = torch.einsum("hbid,hbjd->hbij", q, k) / x.shape[-1] ** 0.5
        if hidden is not None:
            scores = scores.masked_fill(hidden[None, :, None, :], -1e9)
        return torch.einsum("hbij,hbjd,hdm->bim", scores.softmax(-1), v, self.w["o"])
