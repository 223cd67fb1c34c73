from torch import nn


class Couche(nn.Module):
    """Couche d'encodeur, normes devant. `conf["retain_prob"]` : la part des valeurs gardées à l'entraînement."""

    def __init__(self, conf):
        super().__init__()
        largeur = conf["largeur"]
        self.tetes = conf["tetes"]
        self.norme1, self.norme2 = nn.LayerNorm(largeur), nn.LayerNorm(largeur)
        self.qkv = nn.Linear(largeur, 3 * largeur)
        self.sortie = nn.Linear(largeur, largeur)
        self.reseau = nn.Sequential(nn.Linear(largeur, conf["interne"]), nn.ReLU(), nn.Linear(conf["interne"], largeur))
        self.oubli = nn.Dropout(1 - conf["retain_prob"])

    def regarder(self, x):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.tetes, -1).permute(2, 0, 3, 1, 4)
        poids = (q @ k.transpose(2, 3) / q.shape[-1] ** 0.5).softmax(-1)
        return self.sortie((poids @ v).transpose(1, 2).reshape(b, n, -1))

    def forward(self, x):
        x = x + self.oubli(self.regarder(self.norme1(x)))
        return x + self.oubli(self.reseau(self.norme2(x)))
