"""
Couche d'encodeur, TP noté.
"""
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, dim, nb_tetes):
        super().__init__()
        self.nb_tetes = nb_tetes
        self.requete = nn.Linear(dim, dim, bias=False)
        self.cle = nn.Linear(dim, dim, bias=False)
        self.valeur = nn.Linear(dim, dim, bias=False)
        self.sortie = nn.Linear(dim, dim, bias=False)
        self.softmax = nn.Softmax(dim=2)

    def forward(self, x):
        lot, longueur, dim = x.shape
        d = dim // self.nb_tetes
        r = self.requete(x).view(lot, longueur, self.nb_tetes, d).transpose(1, 2)
        c = self.cle(x).view(lot, longueur, self.nb_tetes, d).transpose(1, 2)
        v = self.valeur(x).view(lot, longueur, self.nb_tetes, d).transpose(1, 2)
        poids = self.softmax(r @ c.transpose(2, 3) / d ** 0.5)
        return self.sortie((poids @ v).transpose(1, 2).reshape(lot, longueur, dim))


class Couche(nn.Module):
    def __init__(self, dim, nb_tetes, dim_cachee, abandon=0.1):
        super().__init__()
        self.attention = Attention(dim, nb_tetes)
        self.reseau = nn.Sequential(nn.Linear(dim, dim_cachee), nn.ReLU(), nn.Linear(dim_cachee, dim))
        self.norme_1, self.norme_2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.abandon = nn.Dropout(abandon)

    def forward(self, x):
        x = self.norme_1(x + self.abandon(self.attention(x)))
        return self.norme_2(x + self.abandon(self.reseau(x)))
