import torch
from torch import nn


class LazyMHA(nn.Module):
    """ input sizes are found out at the first call """

    def __init__(self, num_hiddens, head_size, dropout=0.0):
        super().__init__()
        # head_size: how many heads
        assert num_hiddens % head_size == 0
        self.head_size = head_size
        self.num_hiddens = num_hiddens
        self.dropout = nn.Dropout(dropout)
        self.W_q = nn.LazyLinear(num_hiddens, bias=False)
        self.W_k = nn.LazyLinear(num_hiddens, bias=False)
        self.W_v = nn.LazyLinear(num_hiddens, bias=False)
        self.W_o = nn.LazyLinear(num_hiddens, bias=False)

    def fold(self, X):
        b, n, _ = X.shape
        X = X.reshape(b, n, self.head_size, -1).permute(0, 2, 1, 3)
        return X.reshape(b * self.head_size, n, -1)

    def unfold(self, X):
        bh, n, d = X.shape
        X = X.reshape(bh // self.head_size, self.head_size, n, d).permute(0, 2, 1, 3)
        return X.reshape(bh // self.head_size, n, self.head_size * d)

    def forward(self, queries, keys, values, valid_lens=None):
        q, k, v = self.fold(self.W_q(queries)), self.fold(self.W_k(keys)), self.fold(self.W_v(values))
        scores = torch.bmm(q, k.transpose(1, 2)) / q.shape[-1] ** 0.5
        if valid_lens is not None:
            lens = valid_lens.repeat_interleave(self.head_size)
            cols = torch.arange(k.shape[1], device=k.device)
            scores = scores.masked_fill(cols[None, None, :] >= lens[:, None, None], -1e6)
        return self.W_o(self.unfold(torch.bmm(self.dropout(scores.softmax(-1)), v)))
