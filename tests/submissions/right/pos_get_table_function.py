import torch

def get_angles(pos, i, d_model):
    return pos / torch.pow(torch.tensor(10000.0, dtype=torch.float64), (2 * (i // 2)) / d_model)

def get_table(n, d):
    """n positions, d features -> (n, d)"""
    rads = get_angles(torch.arange(n, dtype=torch.float64)[:, None], torch.arange(d)[None, :], d)
    rads[:, 0::2] = torch.sin(rads[:, 0::2])
    rads[:, 1::2] = torch.cos(rads[:, 1::2])
    return rads.float()
