# problem set 5, question 3: the gated network of LLaMA, as a function of its three matrices
import torch


def swish(z):
    return z * torch.sigmoid(z)


def gated(a, b, c, d):
    """a: input; b: gate, c: up, both (F, D); d: down (D, F)"""
    return (swish(a @ b.T) * (a @ c.T)) @ d.T
