import torch


def attention(width, heads):
    """Self-attention as a pair of functions: what makes its weights, and what applies them."""

    def init(seed=0):
        drawn = torch.Generator().manual_seed(seed)
        return {n: torch.randn(width, width, generator=drawn) / width**0.5 for n in ("q", "k", "v", "o")}

    def apply(params, x, keep=None):
        q, k, v = ((x @ params[n]).unflatten(-1, (heads, -1)).transpose(1, 2) for n in "qkv")
        scores = q @ k.mT / (width // heads) ** 0.5
        if keep is not None:  # (B, L), True for tokens
            scores = scores.masked_fill(~keep[:, None, None], float("-inf"))
        return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2) @ params["o"]

    return init, apply
