"""A pre-norm encoder for a scan over its layers: every leaf of the tree has them along its first axis."""

import torch


def initial(gen, *, n_layers, d_model, d_ff):
    matrix = lambda rows, columns: torch.randn(n_layers, rows, columns, generator=gen) * rows**-0.5  # noqa: E731
    each = {
        "norms": [{"gain": torch.ones(n_layers, d_model), "shift": torch.zeros(n_layers, d_model)} for _ in range(2)],
        "attention": {name: matrix(d_model, d_model) for name in ("query", "key", "value", "out")},
        "network": {
            "enter": matrix(d_model, d_ff), "enter_b": torch.zeros(n_layers, d_ff),
            "leave": matrix(d_ff, d_model), "leave_b": torch.zeros(n_layers, d_model),
        },
    }  # fmt: skip
    return {"each": each, "final": {"gain": torch.ones(d_model), "shift": torch.zeros(d_model)}}


def layer_of(tree, i):
    if isinstance(tree, dict):
        return {name: layer_of(leaf, i) for name, leaf in tree.items()}
    return [layer_of(leaf, i) for leaf in tree] if isinstance(tree, list) else tree[i]


def norm(p, x):
    centred = x - x.mean(-1, keepdim=True)
    return centred * torch.rsqrt(centred.square().mean(-1, keepdim=True) + 1e-5) * p["gain"] + p["shift"]


def attend(p, x, n_heads, seen):
    q, k, v = (torch.einsum("btd,de->bte", x, p[n]).unflatten(-1, (n_heads, -1)) for n in ("query", "key", "value"))
    scores = torch.einsum("bthd,bshd->bhts", q, k)
    if seen is not None:
        scores = torch.where(seen[:, None, None, :], scores, -1e30)
    return torch.einsum("bhts,bshd->bthd", scores.softmax(-1), v).flatten(2) @ p["out"]


def transformer_encoder(params, x, *, n_heads, seen=None):
    """x (B, T, D); seen (B, T), True at the tokens that there are."""
    for i in range(len(params["each"]["attention"]["out"])):
        p = layer_of(params["each"], i)
        x = x + attend(p["attention"], norm(p["norms"][0], x), n_heads, seen)
        inside = torch.relu(norm(p["norms"][1], x) @ p["network"]["enter"] + p["network"]["enter_b"])
        x = x + inside @ p["network"]["leave"] + p["network"]["leave_b"]
    return norm(params["final"], x)
