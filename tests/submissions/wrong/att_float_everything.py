import torch


def scaled_dot_product_attention(q, k, v, attn_bias=None):
    # compute in fp32 for stability
    q, k, v = q.float(), k.float(), v.float()
    w = torch.matmul(q, k.transpose(-2, -1)) * (q.size(-1) ** -0.5)
    if attn_bias is not None:
        w = w + attn_bias.float()
    w = torch.softmax(w, dim=-1)
    return torch.matmul(w, v)
