# layer norm as a function; gradients at constant rows are taken care of
import torch

def layer_norm(x, weight, bias, eps=1e-5):
    assert x.shape[-1] == weight.shape[-1]
    h = x.to(torch.promote_types(x.dtype, torch.float32))
    c = h - h.mean(-1, keepdim=True)
    var = (c * c).mean(-1, keepdim=True)
    std = torch.where(var > 0, var.clamp_min(torch.finfo(var.dtype).tiny).sqrt(), torch.zeros_like(var))
    return (c / (std + eps) * weight + bias).to(x.dtype)
