"""Decoderschicht für Untertitel. Trainiert wird mit ganzen Sätzen, gesprochen wird Wort für Wort.

    schicht(ziel, ton)            alle Wörter, jedes sieht die vor ihm
    schicht.weiter(wort, ton)     das nächste Wort (Stapel, 1, breite)
    schicht.von_vorn()            vor dem ersten Wort des nächsten Satzes
"""

from torch import cat, nn, ones


class Blick(nn.Module):
    def __init__(self, breite: int, zahl: int):
        super().__init__()
        self.zahl = zahl
        self.frage = nn.Linear(breite, breite, bias=False)
        self.schluessel_und_wert = nn.Linear(breite, 2 * breite, bias=False)
        self.zurueck = nn.Linear(breite, breite, bias=False)

    def geteilt(self, x):
        return x.unflatten(-1, (self.zahl, -1)).transpose(1, 2)

    def merken(self, x):
        k, v = self.schluessel_und_wert(x).chunk(2, -1)
        return self.geteilt(k), self.geteilt(v)

    def forward(self, x, gemerkt, verdeckt=None):
        k, v = gemerkt
        q = self.geteilt(self.frage(x))
        punkte = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if verdeckt is not None:
            punkte = punkte.masked_fill(verdeckt, -float("inf"))
        return self.zurueck((punkte.softmax(-1) @ v).transpose(1, 2).flatten(-2))


class Untertitelschicht(nn.Module):
    def __init__(self, breite: int, zahl: int, innen: int):
        super().__init__()
        self.eigen, self.gehoert = Blick(breite, zahl), Blick(breite, zahl)
        self.netz = nn.Sequential(nn.Linear(breite, innen), nn.ReLU(), nn.Linear(innen, breite))
        self.norm_a, self.norm_b, self.norm_c = nn.LayerNorm(breite), nn.LayerNorm(breite), nn.LayerNorm(breite)
        self.gesagt, self.quelle, self.ton = [], None, None

    def von_vorn(self):
        self.gesagt.clear()

    def _durch(self, x, eigenes, vom_ton, verdeckt=None):
        x = self.norm_a(x + self.eigen(x, eigenes, verdeckt))
        x = self.norm_b(x + self.gehoert(x, vom_ton))
        return self.norm_c(x + self.netz(x))

    def forward(self, ziel, ton):
        n = ziel.shape[1]
        spaeter = ones(n, n, device=ziel.device).triu(1) > 0
        return self._durch(ziel, self.eigen.merken(ziel), self.gehoert.merken(ton), spaeter)

    def weiter(self, wort, ton):
        self.gesagt.append(self.eigen.merken(wort))
        if self.quelle is not ton:
            self.quelle, self.ton = ton, self.gehoert.merken(ton)
        k, v = (cat(teile, dim=2) for teile in zip(*self.gesagt))
        return self._durch(wort, (k, v), self.ton)
