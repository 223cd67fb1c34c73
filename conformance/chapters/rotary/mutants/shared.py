"""Ways to get rotary positions wrong: what the mutants of several sections use."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.reference import rotary


def called(change):
    """Return the component that, when called, does change(x, positions, rotate) with the right rotate(x, positions)."""

    def component(config, weights):
        rotate = adapter.rotary(config, weights)
        return lambda x, *, positions=None: change(x, positions, lambda y, at: rotate(y, positions=at))

    return component


def rotating(change):
    """Return rotate with change(x, positions, turned), where turned(x, positions) is the right one, in its place."""

    def rotate(x, positions, omega, rotary_dim, size=1.0):
        return change(x, positions, lambda y, at: rotary.rotate(y, at, omega, rotary_dim, size))

    return rotate


def built(change):
    """Return the component built with change(config) instead of config."""
    return lambda config, weights: adapter.rotary(change(config), weights)


def placed(change):
    """Return the component with change(positions, config), where it counts them too, in the place of positions."""

    def component(config, weights):
        rotate = adapter.rotary(config, weights)

        def forward(x, *, positions=None):
            positions = rotary.count(x) if positions is None else positions
            return rotate(x, positions=change(positions, config))

        return forward

    return component


def turn_with(cos_sin, partner):
    """Return turn as x·cos + partner(x)·sin with tables (…, R), as most code has it."""

    def turn(x, theta):
        cos, sin = cos_sin(theta)
        return x * cos.to(x.dtype) + partner(x) * sin.to(x.dtype)

    return turn


def repeated(theta):
    full = theta.repeat_interleave(2, dim=-1)
    return full.cos(), full.sin()


def rotate_every_two(x):
    return torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
