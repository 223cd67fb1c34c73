import torch
import torch.nn as nn
import torch.nn.functional as F


class TransformerBlock(nn.Module):

    def __init__(self, k, heads, hidden=4, dropout=0.1):
        super().__init__()
        self.attention = nn.MultiheadAttention(k, heads, dropout=dropout, batch_first=True)
        self.norm1 = nn.LayerNorm(k)
        self.norm2 = nn.LayerNorm(k)
        self.fc1 = nn.Linear(k, hidden * k)
        self.fc2 = nn.Linear(hidden * k, k)
        self.dropout = dropout

    def forward(self, x):
        attended = self.attention(x, x, x, need_weights=False)[0]
        x = self.norm1(attended + x)
        fed = F.dropout(self.fc2(F.relu(self.fc1(x))), self.dropout)
        return self.norm2(fed + x)
