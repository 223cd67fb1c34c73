# -*- coding: utf-8 -*-
# Übung 7: Encoder-Block
import torch
import torch.nn as nn


class Netz(nn.Module):
    def __init__(self, breite, innen):
        super().__init__()
        self.hin = nn.Linear(breite, innen)
        self.zurueck = nn.Linear(innen, breite)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.zurueck(self.hin(x))


class EncoderBlock(nn.Module):
    def __init__(self, breite, koepfe, innen):
        super().__init__()
        self.aufmerksamkeit = nn.MultiheadAttention(breite, koepfe, batch_first=True)
        self.netz = Netz(breite, innen)
        self.norm1 = nn.LayerNorm(breite)
        self.norm2 = nn.LayerNorm(breite)

    def forward(self, x, polster=None):
        # polster: True, wo aufgefüllt wurde
        a, gewichte = self.aufmerksamkeit(x, x, x, key_padding_mask=polster)
        x = self.norm1(x + a)
        x = self.norm2(x + self.netz(x))
        return x, gewichte
