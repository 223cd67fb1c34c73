from torch import nn


class Vnimanie(nn.Module):
    """
    x        (paket, m, razmer)   zaprosy
    pamyat   (paket, n, razmer)   klyuchi i znacheniya
    maska    (paket, n)           True - vidimyy token, False - zapolnenie
    """

    def __init__(self, razmer, golovy):
        super().__init__()
        self.golovy = golovy
        self.q, self.k = nn.Linear(razmer, razmer), nn.Linear(razmer, razmer)
        self.v, self.o = nn.Linear(razmer, razmer), nn.Linear(razmer, razmer)

    def forward(self, x, pamyat, maska=None):
        q = self.q(x).unflatten(-1, (self.golovy, -1)).transpose(1, 2)
        k = self.k(pamyat).unflatten(-1, (self.golovy, -1)).transpose(1, 2)
        v = self.v(pamyat).unflatten(-1, (self.golovy, -1)).transpose(1, 2)
        ves = q @ k.mT / q.shape[-1] ** 0.5
        if maska is not None:
            ves = ves.masked_fill(maska[:, None, None], -1e9)
        return self.o((ves.softmax(-1) @ v).transpose(1, 2).flatten(2))
