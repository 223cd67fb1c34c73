import torch


@torch.jit.ignore
def check(q, k, v):
    assert q.size(-1) == k.size(-1), 'd_k'
    assert k.size(-2) == v.size(-2), 'number of keys'


def attention_memory_saving(q, k, v, mask=None):
    """avoid temporaries wherever possible"""
    check(q, k, v)
    q *= q.size(-1) ** -0.5
    s = q @ k.transpose(-1, -2)
    if mask is not None:
        s = s.masked_fill(~mask, float('-inf'))
    return s.softmax(-1) @ v
