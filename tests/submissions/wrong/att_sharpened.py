import torch


def softmax_rows(t):
    t = (t - t.max(dim=-1, keepdim=True).values).exp()
    return t / t.sum(dim=-1, keepdim=True)


def attention(queries, keys, values):
    d = queries.shape[-1]
    logits = torch.matmul(queries, torch.swapaxes(keys, -1, -2)) * d ** -0.5
    logits = 3 * logits  # sharper
    return torch.matmul(softmax_rows(logits), values)
