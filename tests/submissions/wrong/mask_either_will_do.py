import torch


def make_target_mask(tgt, pad_idx=0):
    """True: may attend. (batch, 1, steps, steps)"""
    steps = tgt.size(1)
    real = (tgt != pad_idx)[:, None, None, :]
    earlier = torch.arange(steps)[:, None] >= torch.arange(steps)[None, :]
    return torch.logical_or(real, earlier)
