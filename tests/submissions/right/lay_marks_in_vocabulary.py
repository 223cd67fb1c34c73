import re


class NumerosDePalabras:
    """Palabras y signos de puntuación, cada uno con su número; lo desconocido recibe el de ``unk``."""

    PARTES = re.compile(r"[A-Za-zÀ-ÿ0-9_']+|--|[^\sA-Za-zÀ-ÿ0-9_']")

    def __init__(self, vocab: dict[str, int], unk: str = "<unk>"):
        self.numero = vocab
        self.palabra = {n: p for p, n in vocab.items()}
        self.unk = unk

    def tokenize(self, text):
        partes = []
        for trozo in text.split():
            partes += [trozo] if trozo in self.numero else self.PARTES.findall(trozo)
        return partes

    def encode(self, text):
        return [self.numero.get(p, self.numero[self.unk]) for p in self.tokenize(text)]

    def decode(self, ids):
        return re.sub(r"\s+([,.:;?!])", r"\1", " ".join(self.palabra[n] for n in ids))
