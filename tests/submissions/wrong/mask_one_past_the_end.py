import torch


def lengths_to_mask(lengths, max_length=None):
    max_length = max_length or int(lengths.max())
    positions = torch.arange(max_length, device=lengths.device).expand(len(lengths), max_length)
    return positions <= lengths[:, None]
