import torch
import torch.nn as nn


class 词嵌入(nn.Module):
    """把词的编号变成向量。输入 [批, 长度]，输出 [批, 长度, 维度]"""

    def __init__(self, 词表大小, 维度):
        super().__init__()
        # 每一行是一个词的向量
        self.表 = nn.Embedding(词表大小, 维度)

    def forward(self, 编号):
        return self.表(编号)
