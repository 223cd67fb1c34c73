import torch
import torch.nn as nn


def weigh(q, k, v, mask=None):
    s = torch.matmul(q, k.transpose(-1, -2)) / q.size(-1) ** 0.5
    if mask is not None:
        s = s + mask                      # 0 or -inf
    w = torch.softmax(s, dim=-1)
    print("w", w.shape)
    return torch.matmul(w, v), w


class PrintingAttention(nn.Module):
    """prints all shapes, for the video"""

    def __init__(self, dim_in, dim_model, n_heads):
        super().__init__()
        assert dim_model % n_heads == 0
        self.dim_model = dim_model
        self.n_heads = n_heads
        self.first = nn.Linear(dim_in, 3 * dim_model)
        self.second = nn.Linear(dim_model, dim_model)

    def forward(self, x, mask=None):
        b, t, _ = x.shape
        print("x", x.shape)
        z = self.first(x)
        print("after the first layer", z.shape)
        z = z.reshape(b, t, self.n_heads, 3 * (self.dim_model // self.n_heads)).permute(0, 2, 1, 3)
        print("by heads", z.shape)
        q, k, v = z.chunk(3, dim=-1)
        print("q", q.shape, "k", k.shape, "v", v.shape)
        y, w = weigh(q, k, v, mask)
        print("y", y.shape)
        y = y.reshape(b, t, self.dim_model)
        print("heads together again", y.shape)
        out = self.second(y)
        print("out", out.shape)
        return out
