"""Modules that are hard to give weights to: some derive tensors, keep counts, or have a parameter without effect."""

import torch
import torch.nn.functional as F
from torch import nn

X = torch.randn(5, 3, generator=torch.Generator().manual_seed(7), dtype=torch.float64)


def random_state(module, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return {
        n: torch.randn(p.shape, generator=generator, dtype=torch.float64).requires_grad_()
        for n, p in module.named_parameters()
    }


def deriving(returned=lambda out: out, train=True):
    """Return a module of a new class that takes its transposed weight when it is built, as some public files do."""

    class Deriving(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 4, bias=False, dtype=torch.float64)
            self.last = nn.Linear(4, 4, dtype=torch.float64)
            self.turned = self.layer.weight.t()

        def forward(self, x):
            return returned(self.last((x @ self.turned).softmax(0)))

    return Deriving().train(train)


def derived_formula(state, x):
    return F.linear((x @ state["layer.weight"].T).softmax(0), state["last.weight"], state["last.bias"])


class Counting(nn.Module):
    """Keeps counts in a buffer and in an attribute, and lets the buffer leak into the output."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4, dtype=torch.float64)
        self.register_buffer("calls", torch.zeros((), dtype=torch.float64))
        self.log = []
        self.count = 0

    def forward(self, x):
        self.calls += 1
        self.count += 1
        self.log.append(x.shape)
        return self.layer(x) + self.calls


class DerivingCounting(Counting):
    def __init__(self):
        super().__init__()
        self.turned = self.layer.weight.t()

    def forward(self, x):
        self.calls += 1
        return x @ self.turned + self.layer.bias + self.calls


class HasDead(nn.Module):
    def __init__(self, dtype=torch.float64):
        super().__init__()
        self.used = nn.Linear(3, 4, dtype=dtype)
        self.unused = nn.Parameter(torch.zeros(2, dtype=dtype))

    def forward(self, x):
        return self.used(x)


class KeyBias(nn.Module):
    """One head of attention; the bias of its keys changes nothing."""

    def __init__(self, dtype=None, device=None):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(3, 3, dtype=dtype, device=device) for _ in range(3))

    def forward(self, x):
        return (self.q(x) @ self.k(x).T).softmax(-1) @ self.v(x)


def key_bias_formula(s, x):
    q, k, v = (x @ s[f"{n}.weight"].T + s[f"{n}.bias"] for n in "qkv")
    return (q @ k.T).softmax(-1) @ v
