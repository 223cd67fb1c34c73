# nombres en français, formules en anglais
import torch

def normalisation_de_couche(x, gain, decalage, eps=1e-5):
    """x : (..., n), gain et decalage : (n,)"""
    if x.shape[-1:] != gain.shape:
        raise ValueError(f"gain {tuple(gain.shape)} pour x {tuple(x.shape)}")
    large = x.to(torch.promote_types(x.dtype, torch.float32))
    moyenne = large.mean(dim=-1, keepdim=True)
    ecart = large - moyenne
    variance = ecart.pow(2).mean(dim=-1, keepdim=True)
    return (gain * ecart / (variance + eps).sqrt() + decalage).to(x.dtype)
