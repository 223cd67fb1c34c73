"""Reads a text and its sequel, as BERT does, with weights from a flat dict.

ids, segments, visible: (B, L) integers; a segment is 0 or 1, visible is 1 for words and 0 for padding.
"""

import torch


def new_weights(words=500, width=64, blocks=3, inner=256, longest=128):
    w = {"words": torch.randn(words, width), "places": torch.randn(longest, width), "parts": torch.randn(2, width)}

    def product(name, rows, columns):
        w[f"{name}.w"], w[f"{name}.b"] = torch.randn(rows, columns) / columns**0.5, torch.zeros(rows)

    def norm(name):
        w[f"{name}.gain"], w[f"{name}.shift"] = torch.ones(width), torch.zeros(width)

    norm("entry")
    for n in range(blocks):
        for name in ("ask", "offer", "carry", "gather"):
            product(f"{n}.{name}", width, width)
        product(f"{n}.widen", inner, width)
        product(f"{n}.narrow", width, inner)
        norm(f"{n}.read")
        norm(f"{n}.thought")
    return w


def product(w, name, x):
    return torch.einsum("...i,oi->...o", x, w[f"{name}.w"]) + w[f"{name}.b"]


def norm(w, name, x):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + 1e-6).sqrt() * w[f"{name}.gain"] + w[f"{name}.shift"]


def attend(w, n, x, visible, heads):
    q, k, v = (product(w, f"{n}.{name}", x).unflatten(-1, (heads, -1)) for name in ("ask", "offer", "carry"))
    scores = torch.einsum("blhd,bshd->bhls", q, k) * q.shape[-1] ** -0.5
    scores = scores.masked_fill(visible[:, None, None, :] == 0, torch.finfo(x.dtype).min)
    return product(w, f"{n}.gather", torch.einsum("bhls,bshd->blhd", scores.softmax(-1), v).flatten(-2))


def read(w, ids, segments, visible, blocks, heads):
    x = w["words"][ids] + w["parts"][segments] + w["places"][torch.arange(ids.shape[1])]
    x = norm(w, "entry", x)
    for n in range(blocks):
        x = norm(w, f"{n}.read", x + attend(w, n, x, visible, heads))
        x = norm(w, f"{n}.thought", x + product(w, f"{n}.narrow", product(w, f"{n}.widen", x).relu()))
    return x
