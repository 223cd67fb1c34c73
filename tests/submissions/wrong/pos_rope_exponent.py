# la rotation par nombres complexes
import torch


def frequences(dim, n_positions, base=10000.0):
    k = torch.arange(dim // 2, dtype=torch.float64)
    omega = base ** (-k / dim)
    angle = torch.arange(n_positions, dtype=torch.float64)[:, None] * omega[None, :]
    return torch.exp(1j * angle)


def tourner(x, base=10000.0):
    """x : (lot, tetes, longueur, dim)"""
    *_, longueur, dim = x.shape
    if dim % 2 != 0:
        raise ValueError("dim doit etre pair")
    paires = x.double().reshape(*x.shape[:-1], dim // 2, 2).contiguous()
    z = torch.view_as_complex(paires) * frequences(dim, longueur, base).to(x.device)
    return torch.view_as_real(z).reshape(x.shape).to(x.dtype)
