from torch import cat, nn


class Aandacht(nn.Module):
    """Aandacht met meer hoofden. `onthoud` (cache) is een dict van de aanroeper, leeg bij het begin van een reeks:
    wat de lagen gaven staat erin onder de laag zelf, en nieuwe tokens komen erachter."""

    def __init__(self, breedte: int, hoofden: int):
        super().__init__()
        self.hoofden = hoofden
        self.vraag = nn.Linear(breedte, breedte)
        self.sleutel = nn.Linear(breedte, breedte, bias=False)
        self.waarde = nn.Linear(breedte, breedte)
        self.uit = nn.Linear(breedte, breedte)

    def erbij(self, laag, x, onthoud):
        nieuw = laag(x)
        if onthoud is None:
            return nieuw
        onthoud[laag] = cat([onthoud[laag], nieuw], dim=1) if laag in onthoud else nieuw
        return onthoud[laag]

    def forward(self, x, onthoud=None):
        q = self.vraag(x)
        k, v = self.erbij(self.sleutel, x, onthoud), self.erbij(self.waarde, x, onthoud)
        q, k, v = (t.unflatten(-1, (self.hoofden, -1)).transpose(1, 2) for t in (q, k, v))
        score = q @ k.mT / q.shape[-1] ** 0.5
        eerder = k.shape[2] - q.shape[2]
        later = score.new_ones(q.shape[2], k.shape[2]).triu(1).bool()
        gewicht = score.masked_fill(later, float("-inf")).softmax(dim=-1)
        return self.uit((gewicht @ v).transpose(1, 2).flatten(2))
