import torch
from torch import nn


class SprachEncoder(nn.Module):
    """Schichten ueber Rahmen (T, B, C); was hinter der Laenge liegt, sieht niemand, und es kommt als Null heraus."""

    def __init__(self, breite, koepfe, schichten, innen):
        super().__init__()
        bau = (nn.TransformerEncoderLayer(breite, koepfe, innen, 0.0, norm_first=True) for _ in range(schichten))
        self.schichten = nn.ModuleList(bau)
        self.norm = nn.LayerNorm(breite)

    def forward(self, x, laengen=None):
        leer = None
        if laengen is not None:
            leer = torch.arange(x.shape[0], device=x.device) >= laengen[:, None]
        for schicht in self.schichten:
            x = schicht(x, src_key_padding_mask=leer)
        x = self.norm(x)
        return x if leer is None else x.masked_fill(leer.T[..., None], 0.0)
