"""A decoder layer, forward only, in NumPy."""
import numpy as np


def _softmax(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _norm(x, w, eps=1e-6):
    c = x - x.mean(-1, keepdims=True)
    return w["gain"] * c / np.sqrt((c * c).mean(-1, keepdims=True) + eps) + w["shift"]


def attend(w, x, y, allowed=None):
    q, k, v = (np.einsum("bnd,dhe->bhne", t, w[n]) for n, t in (("q", x), ("k", y), ("v", y)))
    s = np.einsum("bhne,bhme->bhnm", q, k) / np.sqrt(q.shape[-1])
    if allowed is not None:
        s = np.where(allowed, s, -1e30)
    return np.einsum("bhnm,bhme,hed->bnd", _softmax(s), v, w["o"])


def init_layer(rng, d, h, f):
    def normal(*shape):
        return rng.standard_normal(shape) * d ** -0.5

    def att():
        return {**{n: normal(d, h, d // h) for n in "qkv"}, "o": normal(h, d // h, d)}

    norms = [{"gain": np.ones(d), "shift": np.zeros(d)} for _ in range(3)]
    return {"self": att(), "cross": att(), "up": normal(d, f), "down": normal(f, d), "norms": norms}


def decoder_layer(w, x, memory, memory_allowed=None):
    """w from init_layer; x (b, n, d); memory (b, m, d); memory_allowed (b, m), True for what is real."""
    past = np.tri(x.shape[1], dtype=bool)
    x = _norm(x + attend(w["self"], x, x, past), w["norms"][0])
    if memory_allowed is not None:
        memory_allowed = memory_allowed[:, None, None, :]
    x = _norm(x + attend(w["cross"], x, x), w["norms"][1])
    return _norm(x + np.maximum(x @ w["up"], 0.0) @ w["down"], w["norms"][2])
