import torch
from torch import nn, Tensor


class OneHead(nn.Module):
    def __init__(self, emb: int, dh: int):
        super().__init__()
        self.to_qkv = nn.Linear(emb, 3 * dh, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.to_qkv(x).chunk(3, dim=-1)
        return ((q @ k.mT) * q.shape[-1] ** -0.5).softmax(dim=-1) @ v


class ManyHeads(nn.Module):
    def __init__(self, emb: int, n: int):
        super().__init__()
        assert emb % n == 0
        self.heads = nn.ModuleList([OneHead(emb, emb // n)] * n)
        self.mix = nn.Linear(emb, emb)

    def forward(self, x: Tensor) -> Tensor:
        return self.mix(torch.cat([head(x) for head in self.heads], dim=-1))
