import torch
import torch.nn as nn
import math


def pos_enc(length, dim):
    pe = [[0.0] * dim for _ in range(length)]
    for p in range(length):
        for j in range(0, dim, 2):
            w = 1.0 / math.pow(10000, j / dim)
            pe[p][j] = math.sin(p * w)
            if j + 1 < dim:
                pe[p][j + 1] = math.cos(p * w)
    return torch.tensor(pe)


class ReverseStrings(nn.Module):
    """Toy task: reverse a string. ids in, scores for the next letter out.

    letters: how many different symbols there are
    dim, heads, hidden, blocks: as always
    """

    def __init__(self, letters, dim, heads, hidden, blocks, longest=64):
        super().__init__()
        self.inp = nn.Embedding(letters, dim)
        self.outp = nn.Embedding(letters, dim)
        self.register_buffer("pe", pos_enc(longest, dim))
        self.body = nn.Transformer(dim, heads, blocks, blocks, hidden, dropout=0.0, batch_first=True)
        self.scores = nn.Linear(dim, letters, bias=False)
        self.dim = dim

    def forward(self, question, answer):
        pad = question == 0
        x = self.inp(question) * math.sqrt(self.dim) + self.pe[: question.shape[1]]
        y = self.outp(answer) * math.sqrt(self.dim) + self.pe[: answer.shape[1]]
        t = answer.shape[1]
        later = torch.ones(t, t, device=y.device).triu(1).bool()
        h = self.body(x, y, tgt_mask=later, src_key_padding_mask=pad, memory_key_padding_mask=pad)
        return self.scores(h)
