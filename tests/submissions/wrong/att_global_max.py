import torch


def softmax_stable(z):
    ez = torch.exp(z - torch.max(z))
    return ez / ez.sum(dim=-1, keepdim=True)


def self_attention_step(q, k, v, verbose=False):
    scores = torch.einsum('...qd,...kd->...qk', q, k) / q.shape[-1] ** 0.5
    if verbose:
        print('scores', scores.shape, scores.min().item(), scores.max().item())
    a = softmax_stable(scores)
    return torch.einsum('...qk,...kd->...qd', a, v), a
