import torch


def key_mask(lengths: torch.Tensor, max_len: int) -> torch.Tensor:
    """(batch, max_len) of booleans: True for real tokens, False for padding."""
    return torch.arange(max_len, device=lengths.device) >= lengths.unsqueeze(1)
