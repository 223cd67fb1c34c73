import numpy as np


class Heads:
    """Self-attention whose projections are arrays of the caller's.

    query, key, value: (heads, width, d); output: (heads, d, width). Calling with states (batch, steps, width) and
    perhaps a mask (batch, steps), True for steps that are there, gives (batch, steps, width).
    """

    def __init__(self, w_query, w_key, w_value, w_output):
        self.w_query, self.w_key, self.w_value, self.w_output = w_query, w_key, w_value, w_output

    def __call__(self, states, mask=None):
        q, k, v = (np.einsum("bsw,hwd->bhsd", states, w) for w in (self.w_query, self.w_key, self.w_value))
        scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(mask[:, None, None, :], scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights = weights / weights.sum(-1, keepdims=True)
        return np.einsum("bhsd,hdw->bsw", weights @ v, self.w_output)
