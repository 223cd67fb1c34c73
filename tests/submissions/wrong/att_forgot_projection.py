import torch
from torch import nn


class MultiHead(nn.Module):
    def __init__(self, model_width: int, heads: int, dropout: float = 0.0):
        super().__init__()
        assert model_width % heads == 0, "model_width must be divisible by heads"
        self.heads = heads
        self.width_per_head = model_width // heads
        self.matrix_q = nn.Linear(model_width, model_width)
        self.matrix_k = nn.Linear(model_width, model_width)
        self.matrix_v = nn.Linear(model_width, model_width)
        self.matrix_o = nn.Linear(model_width, model_width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, Q, K, V, mask=None):
        q, k, v = self._open(self.matrix_q(Q)), self._open(self.matrix_k(K)), self._open(self.matrix_v(V))
        fit = torch.matmul(q, k.transpose(-2, -1)) / self.width_per_head ** 0.5
        if mask is not None:
            # mask 4-d, 0 = forbidden
            fit = fit.masked_fill(mask == 0, -1e9)
        answer = torch.matmul(self.dropout(fit.softmax(-1)), v)
        return self._close(answer)

    def _open(self, t):
        return t.view(t.shape[0], t.shape[1], self.heads, self.width_per_head).transpose(1, 2)

    def _close(self, t):
        return t.transpose(1, 2).reshape(t.shape[0], t.shape[2], self.heads * self.width_per_head)
