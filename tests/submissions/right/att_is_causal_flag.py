import torch

NEG_INF = float("-inf")


def causal_mask(n_q, n_k, device=None):
    i = torch.arange(n_q, device=device).unsqueeze(1)
    j = torch.arange(n_k, device=device).unsqueeze(0)
    return j > i          # True == blocked


@torch.no_grad()
def _show(weights):
    for row in weights[0, 0]:
        print(" ".join(f"{p:.2f}" for p in row))


def my_attention(q, k, v, is_causal=False, verbose=False):
    B, H, T, hs = q.shape
    S = k.shape[2]
    att = q @ k.transpose(2, 3)
    att = att * hs ** -0.5
    if is_causal:
        att = att.masked_fill(causal_mask(T, S, att.device), NEG_INF)
    att = torch.nn.functional.softmax(att, dim=3)
    if verbose:
        _show(att)
    return att @ v
