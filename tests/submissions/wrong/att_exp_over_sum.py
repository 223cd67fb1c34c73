import torch


def softmax(x):
    e = torch.exp(x)
    return e / e.sum(-1, keepdim=True)


def attn(q, k, v):
    """q,k,v : (batch, heads, time, size)"""
    return softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5) @ v


# quick test against torch
if __name__ == '__main__':
    q, k, v = torch.randn(3, 2, 4, 5, 8)
    print((attn(q, k, v) - torch.nn.functional.scaled_dot_product_attention(q, k, v)).abs().max())
