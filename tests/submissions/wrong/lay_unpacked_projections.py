import torch
import torch.nn.functional as F


def affine(x, w, b):
    return F.linear(x, w, b)


def attention(x, q, k, v, o, n_heads):
    B, T, E = x.shape

    def heads(t):
        return t.view(B, T, n_heads, E // n_heads).transpose(1, 2)

    weights = (heads(affine(x, **q)) @ heads(affine(x, **k)).mT * E ** -0.5).softmax(-1)
    return affine((weights @ heads(affine(x, **v))).transpose(1, 2).reshape(B, T, E), **o)


def norm(x, g, b, eps=1e-5):
    return F.layer_norm(x, g.shape, g, b, eps)


def encoder_layer(x, attn, ff_in, ff_out, norm1, norm2, n_heads):
    """x: (B, T, E) -> (B, T, E), post-norm."""
    x = norm(x + attention(x, **attn, n_heads=n_heads), **norm1)
    return norm(x + affine(F.relu(affine(x, **ff_in)), **ff_out), **norm2)
