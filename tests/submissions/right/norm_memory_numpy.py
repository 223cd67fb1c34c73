"""A layer norm for a course without autograd: it keeps weights and their gradients in two dicts."""

import numpy as np


class LayerNorm:
    def __init__(self, size, eps=1e-5, elementwise_affine=True):
        self.eps = eps
        self.weights = {}
        if elementwise_affine:
            self.weights = {"gamma": np.ones(size), "beta": np.zeros(size)}
        self.grads = {name: np.zeros_like(w) for name, w in self.weights.items()}

    def forward(self, x):
        mean = x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt(((x - mean) ** 2).mean(axis=-1, keepdims=True) + self.eps)
        self.normal = (x - mean) / deviation
        if not self.weights:
            return self.normal
        return self.weights["gamma"] * self.normal + self.weights["beta"]

    def backward(self, grad):
        self.grads["gamma"] += (grad * self.normal).reshape(-1, grad.shape[-1]).sum(axis=0)
        self.grads["beta"] += grad.reshape(-1, grad.shape[-1]).sum(axis=0)
