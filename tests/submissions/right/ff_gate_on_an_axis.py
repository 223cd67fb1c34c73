import torch


def ff_params(width, inner, generator=None):
    def drawn(*shape):
        return torch.randn(*shape, generator=generator) / shape[0] ** 0.5

    return {"in": drawn(width, inner, 2), "in_b": torch.zeros(inner, 2), "out": drawn(inner, width), "out_b": torch.zeros(width)}


def gated_ff(params, x):
    """GELU of one half times the other; both halves stand side by side on the last axis of one array."""
    both = torch.einsum("...d,dfg->...fg", x, params["in"]) + params["in_b"]
    gate, value = both.unbind(-1)
    return torch.nn.functional.gelu(gate) * value @ params["out"] + params["out_b"]
