import torch
from torch import Tensor, nn


def _slopes(heads: int) -> Tensor:
    closest = 2 ** (heads.bit_length() - 1)
    base = torch.tensor(2.0, dtype=torch.float64) ** (-8.0 / closest)
    first = base ** torch.arange(1, closest + 1)
    if closest == heads:
        return first
    finer = base.sqrt() ** torch.arange(1, 2 * (heads - closest), 2)
    return torch.cat((first, finer))


class AlibiPositionalBias(nn.Module):
    """Returns (1, heads, q_len, k_len). Queries are the last q_len of the k_len tokens."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.register_buffer("slopes", _slopes(heads).view(1, -1, 1, 1), persistent=False)

    def forward(self, q_len: int, k_len: int) -> Tensor:
        device = self.slopes.device
        q_pos = torch.arange(k_len - q_len, k_len, device=device)
        k_pos = torch.arange(k_len, device=device)
        rel = (k_pos[None, :] - q_pos[:, None]).abs().neg()
        return self.slopes * rel
