import torch as th


def fourier_features(v, B):
    """cos and sin of random projections; v (..., d), B (m, d)"""
    wide = th.promote_types(v.dtype, th.float32)
    phase = 2 * th.pi * v.to(wide) @ B.to(wide).mT
    return th.cat([phase.cos(), (2 * phase).sin()], -1).to(v.dtype)
