"""Bakış: her soru, anahtarlara ne kadar benzediğine göre değerlerin ortalamasını alır."""

import torch


def bakış(değerler, anahtarlar, sorular, kapalı=None):
    """değerler (..., m, w), anahtarlar (..., m, d), sorular (..., n, d); kapalı (..., n, m): True olan görülmez."""
    benzerlik = sorular @ anahtarlar.mT
    if kapalı is not None:
        benzerlik = torch.where(kapalı, float("-inf"), benzerlik)
    return benzerlik.softmax(-1) @ değerler
