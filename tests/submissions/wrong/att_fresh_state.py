"""Causal attention for a decoder that is stepped, as functions over a tree of weights (in JAX's manner)."""
import torch


def init(key, width, heads):
    scale = width ** -0.5
    draw = lambda *shape: torch.randn(*shape, generator=key) * scale
    return {"qkv": draw(3, width, heads, width // heads), "out": draw(heads, width // heads, width)}


def init_state():
    return {"keys": None, "values": None}


def grown(old, new):
    return new if old is None else torch.cat([old, new], dim=1)


def attention(params, x, state=None):
    """x: (batch, new tokens, width). With a state the next one comes back, else None."""
    q, k, v = torch.einsum("btc,nchd->nbthd", x, params["qkv"]).unbind(0)
    following = None
    if state is not None:
        k, v = grown(state["keys"], k), grown(state["keys"], v)
        following = dict(keys=k, values=v)
    logits = torch.einsum("bthd,bshd->bhts", q, k) / q.shape[-1] ** 0.5
    past = k.shape[1] - x.shape[1]
    seen = torch.ones(x.shape[1], k.shape[1], dtype=torch.bool, device=x.device).tril(past)
    probs = logits.where(seen, logits.new_tensor(-torch.inf)).softmax(-1)
    return torch.einsum("bhts,bshd,hdc->btc", probs, v, params["out"]), following
