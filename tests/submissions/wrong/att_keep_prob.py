import torch
import torch.nn as nn


class AttentionLayer(nn.Module):
    """ported from our old tensorflow code"""

    def __init__(self, num_units, num_heads, dropout_rate=0.1):
        super().__init__()
        assert num_units % num_heads == 0
        self.num_heads = num_heads
        self.dense_q = nn.Linear(num_units, num_units)
        self.dense_k = nn.Linear(num_units, num_units)
        self.dense_v = nn.Linear(num_units, num_units)
        self.dense_out = nn.Linear(num_units, num_units)
        keep_prob = 1.0 - dropout_rate
        self.dropout = nn.Dropout(keep_prob)

    def forward(self, queries, keys, values):
        Q = torch.stack(self.dense_q(queries).chunk(self.num_heads, 2), 1)
        K = torch.stack(self.dense_k(keys).chunk(self.num_heads, 2), 1)
        V = torch.stack(self.dense_v(values).chunk(self.num_heads, 2), 1)
        alignment = torch.softmax(Q @ K.transpose(2, 3) / K.shape[-1] ** 0.5, -1)
        outputs = self.dropout(alignment) @ V
        return self.dense_out(torch.cat(outputs.unbind(1), 2))
