"""Notes for the seminar on look-ups.

Throughout, queries are (batch, i, e), keys (batch, j, e), values (batch, j, f).
"""

import torch


def shares(table, axis):
    powers = torch.exp(table - table.amax(axis, keepdim=True))
    return powers / powers.sum(axis, keepdim=True)


def attend(q, k, v):
    """How much row i looks at row j, and what it sees then."""
    return shares(q @ k.mT * q.shape[-1] ** -0.5, 1) @ v
