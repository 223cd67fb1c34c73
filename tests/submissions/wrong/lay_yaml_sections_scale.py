"""Encoder of the course project; settings come from config.yaml."""

import math
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d = cfg["model"]["d_model"]
        self.h = cfg["attention"]["heads"]
        self.dk = d // self.h
        self.wq = nn.Linear(d, d)
        self.wk = nn.Linear(d, d)
        self.wv = nn.Linear(d, d)
        self.wo = nn.Linear(d, d)
        self.drop = nn.Dropout(cfg["attention"]["dropout"])

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q = self.wq(x).view(B, L, self.h, self.dk).transpose(1, 2)
        k = self.wk(x).view(B, L, self.h, self.dk).transpose(1, 2)
        v = self.wv(x).view(B, L, self.h, self.dk).transpose(1, 2)
        s = q @ k.transpose(-1, -2) / math.sqrt(D)
        if mask is not None:
            s = s.masked_fill(mask[:, None, None, :] == 0, float("-inf"))
        a = self.drop(s.softmax(-1))
        return self.wo((a @ v).transpose(1, 2).reshape(B, L, D))


class EncoderLayer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d = cfg["model"]["d_model"]
        self.att = Attention(cfg)
        self.ff = nn.Sequential(
            nn.Linear(d, cfg["model"]["d_ff"]),
            nn.ReLU(),
            nn.Dropout(cfg["model"]["dropout"]),
            nn.Linear(cfg["model"]["d_ff"], d),
        )
        self.n1 = nn.LayerNorm(d)
        self.n2 = nn.LayerNorm(d)
        self.drop = nn.Dropout(cfg["model"]["dropout"])

    def forward(self, x, mask=None):
        x = self.n1(x + self.drop(self.att(x, mask)))
        return self.n2(x + self.drop(self.ff(x)))


class Encoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(cfg) for _ in range(cfg["model"]["num_layers"]))

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x
