# TP 4 : attention multi-têtes
# Les tailles sont fixées une fois pour toutes ici.
import torch
import torch.nn as nn

DIM = 32        # taille des vecteurs
NB_TETES = 4    # nombre de têtes
DIM_TETE = DIM // NB_TETES


class AttentionMultiTetes(nn.Module):
    def __init__(self):
        super().__init__()
        # une matrice pour chaque rôle
        self.requetes = nn.Linear(DIM, DIM)
        self.cles = nn.Linear(DIM, DIM)
        self.valeurs = nn.Linear(DIM, DIM)
        self.sortie = nn.Linear(DIM, DIM)

    def decouper(self, t):
        # (lot, longueur, DIM) -> (lot, tête, longueur, DIM_TETE)
        lot, longueur, _ = t.shape
        return t.view(lot, longueur, NB_TETES, DIM_TETE).transpose(1, 2)

    def forward(self, x, masque=None):
        # masque : (lot, longueur), 1 = vrai mot, 0 = bourrage
        q = self.decouper(self.requetes(x))
        c = self.decouper(self.cles(x))
        v = self.decouper(self.valeurs(x))
        notes = q @ c.transpose(-2, -1) / DIM_TETE ** 0.5
        if masque is not None:
            notes = notes.masked_fill(masque[:, None, None, :] == 0, float('-inf'))
        poids = torch.softmax(notes, dim=-1)
        melange = poids @ v
        melange = melange.transpose(1, 2).reshape(x.shape)
        return self.sortie(melange)


# petit essai
if __name__ == "__main__":
    torch.manual_seed(0)
    couche = AttentionMultiTetes()
    phrase = torch.randn(2, 5, DIM)
    print("entrée :", phrase.shape)
    print("sortie :", couche(phrase).shape)
