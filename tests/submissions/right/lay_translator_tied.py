"""
Machine translation with one shared BPE vocabulary, so there is ONE table of embeddings
for the source, for the target and for the output layer.
"""
import math
import torch
import torch.nn as nn


def sinusoid_table(n_position, d_hid):
    def angle(position, j):
        return position / (10000 ** (2 * (j // 2) / d_hid))
    rows = [[math.sin(angle(p, j)) if j % 2 == 0 else math.cos(angle(p, j)) for j in range(d_hid)] for p in range(n_position)]
    return torch.tensor(rows, dtype=torch.float64)


class MultiHead(nn.Module):
    def __init__(self, n_head, d_model):
        super().__init__()
        self.n_head = n_head
        self.w_qs = nn.Linear(d_model, d_model, bias=False)
        self.w_ks = nn.Linear(d_model, d_model, bias=False)
        self.w_vs = nn.Linear(d_model, d_model, bias=False)
        self.fc = nn.Linear(d_model, d_model, bias=False)

    def forward(self, q, k, v, mask):
        b, tq, d = q.shape
        def heads(x):
            return x.view(b, -1, self.n_head, d // self.n_head).transpose(1, 2)
        q, k, v = heads(self.w_qs(q)), heads(self.w_ks(k)), heads(self.w_vs(v))
        a = (q / math.sqrt(d // self.n_head)) @ k.transpose(2, 3)
        a = a.masked_fill(mask == 0, float("-inf")).softmax(dim=-1)
        return self.fc((a @ v).transpose(1, 2).reshape(b, tq, d))


class FFN(nn.Module):
    def __init__(self, d_in, d_hid):
        super().__init__()
        self.w_1 = nn.Linear(d_in, d_hid)
        self.w_2 = nn.Linear(d_hid, d_in)

    def forward(self, x):
        return self.w_2(torch.relu(self.w_1(x)))


class EncLayer(nn.Module):
    def __init__(self, d_model, d_inner, n_head, dropout):
        super().__init__()
        self.slf, self.ffn = MultiHead(n_head, d_model), FFN(d_model, d_inner)
        self.ln1, self.ln2 = nn.LayerNorm(d_model, eps=1e-6), nn.LayerNorm(d_model, eps=1e-6)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask):
        x = self.ln1(x + self.drop(self.slf(x, x, x, mask)))
        return self.ln2(x + self.drop(self.ffn(x)))


class DecLayer(nn.Module):
    def __init__(self, d_model, d_inner, n_head, dropout):
        super().__init__()
        self.slf, self.enc, self.ffn = MultiHead(n_head, d_model), MultiHead(n_head, d_model), FFN(d_model, d_inner)
        self.ln1, self.ln2, self.ln3 = (nn.LayerNorm(d_model, eps=1e-6) for _ in range(3))
        self.drop = nn.Dropout(dropout)

    def forward(self, y, memory, self_mask, cross_mask):
        y = self.ln1(y + self.drop(self.slf(y, y, y, self_mask)))
        y = self.ln2(y + self.drop(self.enc(y, memory, memory, cross_mask)))
        return self.ln3(y + self.drop(self.ffn(y)))


class Translator(nn.Module):
    def __init__(self, n_vocab, pad_idx, d_model=512, d_inner=2048, n_layers=6, n_head=8, dropout=0.1, n_position=200):
        super().__init__()
        self.pad_idx = pad_idx
        self.scale = d_model ** 0.5
        self.table = nn.Embedding(n_vocab, d_model)
        self.register_buffer("positions", sinusoid_table(n_position, d_model).float())
        self.enc = nn.ModuleList([EncLayer(d_model, d_inner, n_head, dropout) for _ in range(n_layers)])
        self.dec = nn.ModuleList([DecLayer(d_model, d_inner, n_head, dropout) for _ in range(n_layers)])
        self.drop = nn.Dropout(dropout)

    def look_up(self, ids):
        return self.drop(self.table(ids) * self.scale + self.positions[: ids.shape[1]])

    def forward(self, src, trg):
        src_mask = (src != self.pad_idx)[:, None, None, :]
        ahead = torch.ones(trg.shape[1], trg.shape[1], device=trg.device).tril().bool()
        trg_mask = (trg != self.pad_idx)[:, None, None, :] & ahead
        memory = self.look_up(src)
        for layer in self.enc:
            memory = layer(memory, src_mask)
        y = self.look_up(trg)
        for layer in self.dec:
            y = layer(y, memory, trg_mask, src_mask)
        return y @ self.table.weight.T
