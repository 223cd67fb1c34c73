import torch


def rmsnorm(x, scale, eps=1e-6):
    """x / rms(x) * scale"""
    if x.shape[-1] != scale.shape[-1]:
        raise ValueError("shapes do not fit")
    y = x.to(torch.promote_types(x.dtype, torch.float32))
    rms = torch.sqrt(y ** 2 + eps).mean(-1, keepdim=True)
    return (scale * (y / rms)).to(x.dtype)
