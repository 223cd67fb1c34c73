import torch
import torch.nn as nn


class OneCausalHead(nn.Module):
    """working through chapter 3, attempt no. 4: now with batches and dropout"""

    def __init__(self, d_in, d_out, context_length, dropout, bias=False):
        super().__init__()
        self.ask = nn.Linear(d_in, d_out, bias=bias)
        self.offer = nn.Linear(d_in, d_out, bias=bias)
        self.content = nn.Linear(d_in, d_out, bias=bias)
        self.dropout = nn.Dropout(dropout)
        later = torch.triu(torch.ones(context_length, context_length), diagonal=1)
        self.register_buffer("later", later)

    def forward(self, x):
        n = x.shape[1]
        k, q, v = self.offer(x), self.ask(x), self.content(x)
        omega = torch.bmm(q, k.transpose(2, 1))
        omega.masked_fill_(self.later[:n, :n].bool(), float("-inf"))
        alpha = (omega / q.shape[-1] ** 0.5).softmax(dim=-1)
        return torch.bmm(self.dropout(alpha), v)


torch.manual_seed(42)
sentence = torch.rand(6, 3)          # six words
batch = torch.stack([sentence, sentence.flip(0)])
head = OneCausalHead(3, 2, context_length=6, dropout=0.0)
print(head(batch))
print("shape", head(batch).shape)
