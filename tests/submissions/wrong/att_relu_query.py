import torch.nn as nn


class ActivatedAttention(nn.Module):
    """ Attention in the style of our other layers: every layer has an activation. """

    def __init__(self, n_in, n_heads, bias=True):
        super().__init__()
        if n_in % n_heads != 0:
            raise ValueError('n_in = {} is no multiple of n_heads = {}'.format(n_in, n_heads))
        self.n_heads = n_heads
        self.question = nn.Sequential(nn.Linear(n_in, n_in, bias), nn.ReLU())
        self.keyword = nn.Linear(n_in, n_in, bias)
        self.content = nn.Linear(n_in, n_in, bias)
        self.summary = nn.Linear(n_in, n_in, bias)

    def forward(self, q, k, v):
        q, k, v = (t.unflatten(2, (self.n_heads, -1)).transpose(1, 2) for t in (self.question(q), self.keyword(k), self.content(v)))
        w = (q @ k.transpose(2, 3) / q.shape[3] ** 0.5).softmax(dim=3)
        return self.summary((w @ v).transpose(1, 2).flatten(2))
