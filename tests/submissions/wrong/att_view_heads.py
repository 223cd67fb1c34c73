import torch
import torch.nn as nn
# 文本分类作业：多头注意力


class DuoTou(nn.Module):
    def __init__(self, wei_du, tou_shu, dropout=0.0):
        super(DuoTou, self).__init__()
        assert wei_du % tou_shu == 0
        self.tou_shu = tou_shu                # 头数
        self.mei_tou = wei_du // tou_shu      # 每个头的维度
        self.Q = nn.Linear(wei_du, wei_du)
        self.K = nn.Linear(wei_du, wei_du)
        self.V = nn.Linear(wei_du, wei_du)
        self.shu_chu = nn.Linear(wei_du, wei_du)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        pi, chang, wei = x.shape
        # 分成多个头
        q = self.Q(x).view(pi * self.tou_shu, chang, self.mei_tou)
        k = self.K(x).view(pi * self.tou_shu, chang, self.mei_tou)
        v = self.V(x).view(pi * self.tou_shu, chang, self.mei_tou)
        quan_zhong = torch.bmm(q, k.transpose(1, 2)) * self.mei_tou ** -0.5
        quan_zhong = self.dropout(quan_zhong.softmax(dim=2))
        # 还原
        y = torch.bmm(quan_zhong, v).view(pi, chang, wei)
        return self.shu_chu(y)
