from torch import nn


class Capa(nn.Module):
    """Capa de codificador; norma_antes: x + f(norma(x)), si no norma(x + f(x))."""

    def __init__(self, ancho, cabezas, oculta, norma_antes=False):
        super().__init__()
        self.norma_antes = norma_antes
        self.atencion = nn.MultiheadAttention(ancho, cabezas, batch_first=True)
        self.red = nn.Sequential(nn.Linear(ancho, oculta), nn.ReLU(), nn.Linear(oculta, ancho))
        self.norma1, self.norma2 = nn.LayerNorm(ancho), nn.LayerNorm(ancho)

    def forward(self, x, relleno=None):
        y, _ = self.atencion(x, x, x, key_padding_mask=relleno, need_weights=False)
        x = self.norma1(x + y)
        return self.norma2(x + self.red(x))
