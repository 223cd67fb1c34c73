import torch
from torch import nn


class HeadsAverage(nn.Module):
    '''每个头独立计算注意力，然后合并'''

    def __init__(self, dim, head_num):
        super().__init__()
        assert dim % head_num == 0
        self.head_num = head_num
        self.linear_q = nn.Linear(dim, dim)
        self.linear_k = nn.Linear(dim, dim)
        self.linear_v = nn.Linear(dim, dim)
        self.linear_o = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, d = x.shape
        # 分头: (b, n, d) -> (b, h, n, d/h)
        q = self.linear_q(x).reshape(b, n, self.head_num, -1).transpose(1, 2)
        k = self.linear_k(x).reshape(b, n, self.head_num, -1).transpose(1, 2)
        v = self.linear_v(x).reshape(b, n, self.head_num, -1).transpose(1, 2)
        att = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, dim=-1)
        out = att @ v
        # 合并
        out = out.mean(dim=1).repeat(1, 1, self.head_num)
        return self.linear_o(out)
