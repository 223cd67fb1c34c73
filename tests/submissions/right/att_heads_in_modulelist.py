import torch
from torch import nn


class Kopf(nn.Module):
    def __init__(self, breit, schmal):
        super().__init__()
        self.frage = nn.Linear(breit, schmal)
        self.antwort = nn.Linear(breit, schmal)
        self.inhalt = nn.Linear(breit, schmal)

    def forward(self, h):
        gewichte = torch.bmm(self.frage(h), self.antwort(h).transpose(1, 2))
        gewichte = torch.softmax(gewichte / self.frage.out_features ** 0.5, dim=2)
        return torch.bmm(gewichte, self.inhalt(h))


class SelbstAttention(nn.Module):
    """Viele kleine Köpfe nebeneinander, danach eine gemeinsame Schicht."""

    def __init__(self, hidden_size, anzahl_koepfe):
        super().__init__()
        if hidden_size % anzahl_koepfe:
            raise ValueError("hidden_size ist nicht durch anzahl_koepfe teilbar")
        schmal = hidden_size // anzahl_koepfe
        self.koepfe = nn.ModuleList()
        while len(self.koepfe) < anzahl_koepfe:
            self.koepfe.append(Kopf(hidden_size, schmal))
        self.zusammen = nn.Linear(hidden_size, hidden_size)

    def forward(self, h):
        return self.zusammen(torch.cat([kopf(h) for kopf in self.koepfe], dim=2))
