import torch
from torch import nn
from types import SimpleNamespace

small = SimpleNamespace(hidden_size=40, num_attention_heads=5, attention_dropout=0.1)


class EncoderAttention(nn.Module):
    def __init__(self, config=small):
        super().__init__()
        self.n = config.num_attention_heads
        self.w, rest = divmod(config.hidden_size, self.n)
        if rest:
            raise ValueError(f"hidden size {config.hidden_size}, {self.n} heads, {rest} features left over")
        self.layer_q = nn.Linear(config.hidden_size, config.hidden_size)
        self.layer_k = nn.Linear(config.hidden_size, config.hidden_size)
        self.layer_v = nn.Linear(config.hidden_size, config.hidden_size)
        self.layer_o = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.attention_dropout)

    def by_head(self, t):
        batch, length, _ = t.shape
        return t.view(batch, length, self.n, self.w).permute(0, 2, 1, 3)

    def forward(self, hidden_states, extended_mask=None):
        """extended_mask is added: (batch, 1, 1, length), 0 for tokens and a large negative number for padding"""
        q, k, v = map(self.by_head, (self.layer_q(hidden_states), self.layer_k(hidden_states), self.layer_v(hidden_states)))
        scores = torch.matmul(q, k.permute(0, 1, 3, 2)) / self.w ** 0.5
        if extended_mask is not None:
            scores = scores + extended_mask
        mixed = torch.matmul(self.dropout(scores.softmax(3)), v)
        return (self.layer_o(mixed.permute(0, 2, 1, 3).reshape(hidden_states.shape)),)
