import torch
from torch import Tensor


def make_masks(source: Tensor, target: Tensor, pad: int) -> tuple[Tensor, Tensor]:
    """Masks for a batch of a translator, 1 where a position is blocked."""
    blocked_source = source.eq(pad).unsqueeze(1).unsqueeze(2)
    steps = target.size(1)
    ahead = torch.ones(steps, steps, device=target.device, dtype=torch.bool).triu_(1)
    blocked_target = target.eq(pad).unsqueeze(1).unsqueeze(2).logical_or(ahead)
    return blocked_source.int(), blocked_target.int()
