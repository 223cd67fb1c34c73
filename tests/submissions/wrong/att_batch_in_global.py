import torch
import torch.nn as nn

BATCH = 16
HEADS = 4
DMODEL = 64


class MultiHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(DMODEL, DMODEL)
        self.k = nn.Linear(DMODEL, DMODEL)
        self.v = nn.Linear(DMODEL, DMODEL)
        self.o = nn.Linear(DMODEL, DMODEL)

    def forward(self, x):
        q = self.q(x).view(BATCH, -1, HEADS, DMODEL // HEADS).transpose(1, 2)
        k = self.k(x).view(BATCH, -1, HEADS, DMODEL // HEADS).transpose(1, 2)
        v = self.v(x).view(BATCH, -1, HEADS, DMODEL // HEADS).transpose(1, 2)
        w = torch.softmax(q @ k.transpose(-1, -2) / (DMODEL // HEADS) ** 0.5, dim=-1)
        return self.o((w @ v).transpose(1, 2).reshape(BATCH, -1, DMODEL))


net = MultiHead()
print(net(torch.randn(BATCH, 10, DMODEL)).shape)
