"""What a case keeps is what would be computed now: what one file was held to is not what another is held to."""

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from unittest import mock

import torch

from attnconf.conformance.engine.case import Case

EVERY = 16  # what is kept is computed again one time in as many


@contextmanager
def compared(every=EVERY):
    """Yield the list of what was kept and would be another now, in words, while files are judged."""
    differing, asked = [], 0

    def once(self, what, compute):
        nonlocal asked
        if what not in self._computed:
            self._computed[what] = compute()
        elif (asked := asked + 1) % every == 0 and not same(self._computed[what], compute()):
            differing.append(f"{self.name}: {what}")
        return self._computed[what]

    with mock.patch.object(Case, "once", once):
        yield differing


def same(kept, now):
    """Return whether two values are the same, numbers of tensors within what another order of sums may change."""
    if isinstance(kept, torch.Tensor):
        alike = isinstance(now, torch.Tensor) and kept.shape == now.shape and kept.dtype == now.dtype
        return alike and torch.allclose(kept.double(), now.double(), rtol=1e-5, atol=1e-8, equal_nan=True)
    if type(kept) is not type(now):
        return False
    if isinstance(kept, Mapping):
        return kept.keys() == now.keys() and all(same(kept[key], now[key]) for key in kept)
    if isinstance(kept, (list, tuple)):
        return len(kept) == len(now) and all(map(same, kept, now))
    if is_dataclass(kept):
        return all(same(getattr(kept, f.name), getattr(now, f.name)) for f in fields(kept) if f.compare)
    return kept == now or callable(kept)
