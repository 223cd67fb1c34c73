"""Turning by positions; the sines and cosines are kept in an object of their own."""

import torch


class RotaryCache:
    """Holds as many rows as were ever asked for. It has no parameters, and is no module."""

    def __init__(self, width: int, theta: float = 10000.0):
        self.speeds = theta ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
        self.rows = torch.zeros(0, width // 2, dtype=torch.complex128)

    def turn(self, x: torch.Tensor, start: int = 0) -> torch.Tensor:
        """Return x, (…, tokens, width), whose first token is at position ``start``; pairs are neighbours."""
        stop = start + x.shape[-2]
        if stop > len(self.rows):
            angles = torch.outer(torch.arange(2 * stop, dtype=torch.float64), self.speeds)
            self.rows = torch.polar(torch.ones_like(angles), angles)
        pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * self.rows[: stop - start]).flatten(-2).to(x.dtype)


def turn_both(queries: torch.Tensor, keys: torch.Tensor, cache: RotaryCache, start: int = 0):
    return cache.turn(queries, start), cache.turn(keys, start)
