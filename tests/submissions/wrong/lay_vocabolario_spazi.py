"""Esercitazione 3: dalle parole ai numeri e ritorno."""


class Vocabolario:
    IGNOTA = "<?>"

    def __init__(self):
        self.voci = [self.IGNOTA]
        self.posto = {self.IGNOTA: 0}

    def impara(self, frasi):
        """Aggiunge le parole delle frasi, nell'ordine in cui compaiono."""
        for frase in frasi:
            for parola in frase.split():
                if parola not in self.posto:
                    self.posto[parola] = len(self.voci)
                    self.voci.append(parola)
        return self

    def in_numeri(self, frase):
        ignota = self.posto[self.IGNOTA]
        return [self.posto.get(parola, ignota) for parola in frase.split(" ")]

    def in_parole(self, numeri):
        if any(not 0 <= n < len(self.voci) for n in numeri):
            raise IndexError("numero fuori dal vocabolario")
        return " ".join(self.voci[n] for n in numeri)
