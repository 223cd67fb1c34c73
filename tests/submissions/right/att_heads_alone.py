# Exercise 2: the self-attention of BERT. The dense layer behind it belongs to exercise 3.
import torch
import torch.nn.functional as F
from torch import nn


class BertSelfAttention(nn.Module):
    def __init__(self, hidden_size, num_attention_heads, attention_probs_dropout_prob=0.1):
        super().__init__()
        if hidden_size % num_attention_heads:
            raise ValueError("heads must divide the hidden size")
        self.heads = num_attention_heads
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.dropout = nn.Dropout(attention_probs_dropout_prob)

    def transform(self, x, layer):
        b, t, h = x.shape
        return layer(x).view(b, t, self.heads, h // self.heads).transpose(1, 2)

    def forward(self, hidden_states, attention_mask=None):
        """attention_mask: (batch, tokens), 1 for tokens and 0 for padding."""
        q, k, v = (self.transform(hidden_states, layer) for layer in (self.query, self.key, self.value))
        scores = torch.matmul(q, k.transpose(2, 3)) * q.shape[-1] ** -0.5
        if attention_mask is not None:
            scores = scores.masked_fill(attention_mask[:, None, None, :] == 0, torch.finfo(scores.dtype).min)
        probs = self.dropout(F.softmax(scores, dim=-1))
        context = torch.matmul(probs, v).transpose(1, 2).contiguous()
        return context.view(*hidden_states.shape)
