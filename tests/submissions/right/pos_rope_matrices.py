'''
RoPE as in the paper: a block-diagonal matrix R_m for every position m, q_m -> R_m q_m.
Slow, but one sees what happens.
'''
import numpy as np
import torch


def rotation_matrix(m, d, base):
    R = np.zeros((d, d))
    for i in range(d // 2):
        w = m * base ** (-2.0 * i / d)
        R[2 * i, 2 * i] = np.cos(w)
        R[2 * i, 2 * i + 1] = -np.sin(w)
        R[2 * i + 1, 2 * i] = np.sin(w)
        R[2 * i + 1, 2 * i + 1] = np.cos(w)
    return R


def rope(x, base=10000.0):
    """x : tensor (B, H, T, d)"""
    T, d = x.shape[2], x.shape[3]
    if d % 2 == 1:
        raise ValueError('d is odd')
    Rs = torch.from_numpy(np.stack([rotation_matrix(m, d, base) for m in range(T)])).to(x)
    return torch.einsum('mij,bhmj->bhmi', Rs, x)
