import torch


class Dense(torch.nn.Module):
    # y = x A + b   (A is input x output, the way we learned it)
    def __init__(self, i, o):
        super().__init__()
        self.A = torch.nn.Parameter(torch.randn(i, o) / i ** 0.5)
        self.b = torch.nn.Parameter(torch.zeros(o))

    def forward(self, x):
        return x.matmul(self.A) + self.b


class Multikopf(torch.nn.Module):
    def __init__(self, breite: int, koepfe: int):
        super().__init__()
        if breite % koepfe:
            raise ValueError("Breite muss durch die Anzahl der Köpfe teilbar sein")
        self.koepfe = koepfe
        self.frage, self.schluessel, self.wert, self.aus = (Dense(breite, breite) for _ in "qkvo")

    def teile(self, x):
        # (Stapel, Länge, Breite) -> (Stapel, Kopf, Länge, Rest)
        return x.view(x.shape[0], x.shape[1], self.koepfe, x.shape[2] // self.koepfe).movedim(2, 1)

    def forward(self, x, sichtbar=None, gewichte=False):
        q, k, v = self.teile(self.frage(x)), self.teile(self.schluessel(x)), self.teile(self.wert(x))
        punkte = q.matmul(k.transpose(2, 3)).div(q.shape[-1] ** 0.5)
        if sichtbar is not None:
            # sichtbar: (Länge, Länge) oder (Stapel, 1, Länge, Länge); 1 = darf gesehen werden
            punkte = punkte.masked_fill(sichtbar < 0.5, -1e9)
        a = punkte.softmax(3)
        y = self.aus(a.matmul(v).movedim(1, 2).flatten(2))
        if gewichte:
            return y, a
        return y
