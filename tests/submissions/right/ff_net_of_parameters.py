"""Feed-forward network in two functions: init gives the parameters, apply uses them."""
import torch
import torch.nn.functional as F


def init_ffn(seed, features, hidden):
    g = torch.Generator().manual_seed(seed)
    draw = lambda n, m: torch.randn(n, m, generator=g) / n**0.5
    return [(draw(features, hidden), torch.zeros(hidden)), (draw(hidden, features), torch.zeros(features))]


def apply_ffn(params, x):
    (w_in, b_in), (w_out, b_out) = params
    return F.gelu(x @ w_in + b_in) @ w_out + b_out
