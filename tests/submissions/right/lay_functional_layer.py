"""Transformer layer as pure functions. All parameters are arguments; vectors are rows."""
import torch


def layernorm(x, g, b, eps=1e-5):
    u = torch.mean(x, -1, keepdim=True)
    s = torch.mean((x - u) ** 2, -1, keepdim=True)
    return g * (x - u) / torch.sqrt(s + eps) + b


def mha(x, c_attn_w, c_attn_b, c_proj_w, c_proj_b, n_head, mask):
    q, k, v = torch.tensor_split(x @ c_attn_w + c_attn_b, 3, dim=-1)
    outs = []
    for qh, kh, vh in zip(q.chunk(n_head, -1), k.chunk(n_head, -1), v.chunk(n_head, -1)):
        s = qh @ kh.swapaxes(-1, -2) / qh.shape[-1] ** 0.5
        if mask is not None:
            s = s + mask
        outs.append(torch.softmax(s, -1) @ vh)
    return torch.cat(outs, -1) @ c_proj_w + c_proj_b


def ffn(x, w1, b1, w2, b2):
    return torch.relu(x @ w1 + b1) @ w2 + b2


def transformer_block(x, c_attn_w, c_attn_b, c_proj_w, c_proj_b, ln1_g, ln1_b, w1, b1, w2, b2, ln2_g, ln2_b, n_head, mask=None):
    x = x + mha(layernorm(x, ln1_g, ln1_b), c_attn_w, c_attn_b, c_proj_w, c_proj_b, n_head, mask)
    x = x + ffn(layernorm(x, ln2_g, ln2_b), w1, b1, w2, b2)
    return x
