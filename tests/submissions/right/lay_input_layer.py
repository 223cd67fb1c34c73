"""文本输入层：词嵌入 + 位置编码。"""
import torch
import torch.nn as nn


class InputLayer(nn.Module):
    def __init__(self, vocab_size, d_model, max_len, drop_prob=0.0):
        super().__init__()
        self.tok_emb = nn.Embedding(vocab_size, d_model)
        # 位置编码表不参与训练
        encoding = torch.zeros(max_len, d_model, dtype=torch.float64, requires_grad=False)
        pos = torch.arange(0, max_len).double().unsqueeze(dim=1)
        _2i = torch.arange(0, d_model, step=2).double()
        encoding[:, 0::2] = torch.sin(pos / (10000 ** (_2i / d_model)))
        encoding[:, 1::2] = torch.cos(pos / (10000 ** (_2i / d_model)))[:, : d_model // 2]
        self.register_buffer("encoding", encoding.float())
        self.drop_out = nn.Dropout(p=drop_prob)

    def forward(self, x):
        # x: [批大小, 句长]
        batch_size, seq_len = x.size()
        return self.drop_out(self.tok_emb(x) + self.encoding[:seq_len, :])
