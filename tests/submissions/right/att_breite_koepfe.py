# Mehrkopf-Aufmerksamkeit, Übung 7
import torch
from torch import nn


class Aufmerksamkeit(nn.Module):
    def __init__(self, breite=256, koepfe=4, ausfall=0.1):
        super().__init__()
        self.koepfe = koepfe
        self.zu_q = nn.Linear(breite, breite)
        self.zu_k = nn.Linear(breite, breite)
        self.zu_v = nn.Linear(breite, breite)
        self.hinaus = nn.Linear(breite, breite)
        self.ausfall = nn.Dropout(ausfall)

    def _teilen(self, x):
        return x.unflatten(-1, (self.koepfe, -1)).transpose(1, 2)

    def forward(self, query, key, value, src_len=None):
        q, k, v = self._teilen(self.zu_q(query)), self._teilen(self.zu_k(key)), self._teilen(self.zu_v(value))
        punkte = q @ k.mT / q.shape[-1] ** 0.5
        if src_len is not None:
            zu_weit = torch.arange(key.shape[1], device=key.device) >= src_len[:, None]
            punkte = punkte.masked_fill(zu_weit[:, None, None], float("-inf"))
        gewichte = self.ausfall(punkte.softmax(-1))
        return self.hinaus((gewichte @ v).transpose(1, 2).flatten(2))
