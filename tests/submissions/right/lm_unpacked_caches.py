import numpy as np


def softmax(s):
    e = np.exp(s - np.max(s, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def ln(h, g, b):
    m, s = h.mean(-1, keepdims=True), h.var(-1, keepdims=True)
    return g * (h - m) / np.sqrt(s + 1e-5) + b


def affine(h, w, b):
    return h @ w + b


def attn(h, c_attn, c_proj, n_head, past=None):
    q, k, v = np.split(affine(h, **c_attn), 3, axis=-1)
    if past is not None:
        k, v = np.concatenate([past[0], k]), np.concatenate([past[1], v])
    ahead = np.triu(np.ones((len(q), len(k)), dtype=bool), k=1 + len(k) - len(q))
    mixed = []
    for qi, ki, vi in zip(*(np.split(each, n_head, axis=-1) for each in (q, k, v))):
        s = qi @ ki.T * qi.shape[-1] ** -0.5
        s[ahead] = -1e30
        mixed.append(softmax(s) @ vi)
    return affine(np.concatenate(mixed, -1), **c_proj), (k, v)


def block(h, ln_1, attn_w, ln_2, fc, proj, n_head, past=None):
    a, kept = attn(ln(h, **ln_1), **attn_w, n_head=n_head, past=past)
    h = h + a
    return h + affine(np.maximum(affine(ln(h, **ln_2), **fc), 0), **proj), kept


def gpt(ids, wte, wpe, blocks, ln_f, n_head, caches=None):
    """ids: a list, of any length, that follows what the caches hold. Logits for each, and the caches for the next."""
    start = len(caches[0][0]) if caches else 0
    h = wte[ids] + wpe[start + np.arange(len(ids))]
    kept = []
    for i, weights in enumerate(blocks):
        h, one = block(h, **weights, n_head=n_head, past=caches[i] if caches else None)
        kept.append(one)
    return ln(h, **ln_f) @ wte.T, kept
