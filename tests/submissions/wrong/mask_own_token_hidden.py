import torch


def look_ahead_mask(seq_len):
    """1 at the positions that come later, which attention must leave out."""
    mask = torch.ones(seq_len, seq_len)
    return torch.triu(mask)


def padding_mask(ids, pad_id):
    return (ids == pad_id).float()[:, None, None, :]
