import torch
import torch.nn.functional as F


def encoder_layer(dim, heads, hidden, eps=1e-5):
    """Return (weights, apply); apply(weights, x, keep=None) with keep (B, L), True for tokens; norms stand before."""

    def linear(rows, columns):
        return {"w": torch.randn(rows, columns) / rows**0.5, "b": torch.zeros(columns)}

    weights = {
        "att": {name: linear(dim, dim) for name in ("query", "key", "value", "out")},
        "wide": linear(dim, hidden),
        "back": linear(hidden, dim),
        "norms": [{"g": torch.ones(dim), "b": torch.zeros(dim)} for _ in range(2)],
    }

    def times(p, x):
        return x @ p["w"] + p["b"]

    def attend(p, x, keep):
        q, k, v = (times(p[name], x).unflatten(-1, (heads, -1)).transpose(1, 2) for name in ("query", "key", "value"))
        mask = None if keep is None else keep[:, None, None]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return times(p["out"], y.transpose(1, 2).flatten(2))

    def apply(p, x, keep=None):
        first, second = p["norms"]
        x = x + attend(p["att"], F.layer_norm(x, (dim,), first["g"], first["b"], eps), keep)
        wide = F.relu(times(p["wide"], F.layer_norm(x, (dim,), second["g"], second["b"], eps)))
        return x + times(p["back"], wide)

    return weights, apply
