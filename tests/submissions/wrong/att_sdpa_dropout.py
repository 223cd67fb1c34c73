import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention as sdpa


class FlashCausal(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.n, self.p = args["n_heads"], args["dropout"]
        dim = args["dim"]
        assert dim % self.n == 0
        self.wqkv = nn.Linear(dim, dim * 3, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        bsz, seqlen, dim = x.shape
        xq, xk, xv = (t.view(bsz, seqlen, self.n, dim // self.n).transpose(1, 2) for t in self.wqkv(x).tensor_split(3, -1))
        y = sdpa(xq, xk, xv, is_causal=True, dropout_p=self.p)
        return self.wo(y.transpose(1, 2).contiguous().view(bsz, seqlen, dim))
