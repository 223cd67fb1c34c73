import numpy as np

HUGE = -1e9


def look_ahead_mask(size):
    """What is added to the scores: nothing up to the own position, a huge penalty behind it."""
    penalties = np.zeros((size, size))
    penalties[np.triu_indices(size, k=1)] = HUGE
    return penalties


def padding_mask(lengths, max_len):
    beyond = np.arange(max_len)[None, :] >= np.asarray(lengths)[:, None]
    return np.where(beyond, HUGE, 0.0)[:, None, None, :]
