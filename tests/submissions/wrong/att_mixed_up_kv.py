import torch.nn as nn


class CrossAttention(nn.Module):
    """
    query: B, L, C (decoder)
    key, value: B, S, C (encoder)
    """

    def __init__(self, n_heads, d_model):
        super().__init__()
        assert d_model % n_heads == 0
        self.n_heads = n_heads
        self.q_lin = nn.Linear(d_model, d_model)
        self.k_lin = nn.Linear(d_model, d_model)
        self.v_lin = nn.Linear(d_model, d_model)
        self.out_lin = nn.Linear(d_model, d_model)

    def forward(self, query, key, value):
        q, k, v = [self.shape(m(t)) for m, t in ((self.q_lin, query), (self.k_lin, key), (self.v_lin, value))]
        weights = (q @ v.transpose(2, 3) / q.shape[3] ** 0.5).softmax(dim=3)
        context = weights @ k
        return self.out_lin(context.transpose(1, 2).flatten(2))

    def shape(self, x):
        bs, n, d = x.shape
        return x.view(bs, n, self.n_heads, d // self.n_heads).transpose(1, 2)
