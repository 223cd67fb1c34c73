"""Encoder of a translation model: the embedding is normalized before the first layer; a tuple comes back."""
import numpy as np
import torch
from torch import nn


class Sublayered(nn.Module):
    """residual and norm are inside of the sublayers"""

    def __init__(self, d_model, n_head, p):
        super().__init__()
        self.n_head = n_head
        self.w_qs = nn.Linear(d_model, d_model, bias=False)
        self.w_ks = nn.Linear(d_model, d_model, bias=False)
        self.w_vs = nn.Linear(d_model, d_model, bias=False)
        self.fc = nn.Linear(d_model, d_model, bias=False)
        self.drop_w, self.drop = nn.Dropout(p), nn.Dropout(p)
        self.layer_norm = nn.LayerNorm(d_model, eps=1e-6)

    def forward(self, q, k, v, mask=None):
        def split(x):
            return x.unflatten(-1, (self.n_head, -1)).transpose(1, 2)

        residual = q
        q, k, v = split(self.w_qs(q)), split(self.w_ks(k)), split(self.w_vs(v))
        attn = torch.matmul(q / q.size(-1) ** 0.5, k.transpose(2, 3))
        if mask is not None:
            attn = attn.masked_fill(mask.unsqueeze(1) == 0, torch.finfo(attn.dtype).min)
        attn = self.drop_w(attn.softmax(dim=-1))
        out = self.drop(self.fc(torch.matmul(attn, v).transpose(1, 2).flatten(2)))
        out += residual
        return self.layer_norm(out), attn


class Inner(nn.Module):
    def __init__(self, d_in, d_hid, p):
        super().__init__()
        self.w_1, self.w_2 = nn.Linear(d_in, d_hid), nn.Linear(d_hid, d_in)
        self.layer_norm = nn.LayerNorm(d_in, eps=1e-6)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        return self.layer_norm(self.drop(self.w_2(torch.relu(self.w_1(x)))) + x)


class EncoderLayer(nn.Module):
    def __init__(self, d_model, d_inner, n_head, dropout=0.1):
        super().__init__()
        self.slf_attn, self.pos_ffn = Sublayered(d_model, n_head, dropout), Inner(d_model, d_inner, dropout)

    def forward(self, enc_input, slf_attn_mask=None):
        enc_output, attn = self.slf_attn(enc_input, enc_input, enc_input, mask=slf_attn_mask)
        return self.pos_ffn(enc_output), attn


class PositionalEncoding(nn.Module):
    def __init__(self, d_hid, n_position=200):
        super().__init__()
        angles = np.arange(n_position)[:, None] / np.power(10000, 2 * (np.arange(d_hid) // 2) / d_hid)
        angles[:, 0::2], angles[:, 1::2] = np.sin(angles[:, 0::2]), np.cos(angles[:, 1::2])
        self.register_buffer("pos_table", torch.tensor(angles, dtype=torch.float32)[None])

    def forward(self, x):
        return x + self.pos_table[:, :x.size(1)].detach()


class Encoder(nn.Module):
    def __init__(self, n_src_vocab, d_word_vec, n_layers, n_head, d_model, d_inner, pad_idx, dropout=0.1, n_position=200):
        super().__init__()
        self.src_word_emb = nn.Embedding(n_src_vocab, d_word_vec, padding_idx=pad_idx)
        self.position_enc = PositionalEncoding(d_word_vec, n_position=n_position)
        self.dropout = nn.Dropout(p=dropout)
        self.layer_stack = nn.ModuleList([EncoderLayer(d_model, d_inner, n_head, dropout) for _ in range(n_layers)])
        self.layer_norm = nn.LayerNorm(d_model, eps=1e-6)

    def forward(self, src_seq, src_mask, return_attns=False):
        attns = []
        enc_output = self.layer_norm(self.dropout(self.position_enc(self.src_word_emb(src_seq))))
        for layer in self.layer_stack:
            enc_output, attn = layer(enc_output, slf_attn_mask=src_mask)
            attns += [attn] if return_attns else []
        return (enc_output, attns) if return_attns else (enc_output,)
