"""Delord: vanliga par av tecken blir nya symboler (Sennrich m.fl. 2016)."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

SLUT = "¤"  # står efter ordets sista bokstav


@dataclass
class Val:
    antal: int = 500
    minst: int = 2
    okänd: str = "[?]"


@dataclass
class Delord:
    val: Val = field(default_factory=Val)
    ordning: dict = field(default_factory=dict)  # par -> när det lärdes in
    plats: dict = field(default_factory=dict)  # symbol -> nummer

    def lär_av(self, meningar):
        förekomster = Counter(ordet for mening in meningar for ordet in mening.split())
        stavning = {ordet: [*ordet, SLUT] for ordet in förekomster}
        symboler = {self.val.okänd, SLUT, *(tecken for ordet in förekomster for tecken in ordet)}
        self.ordning.clear()
        while len(self.ordning) < self.val.antal:
            par = defaultdict(int)
            for ordet, delar in stavning.items():
                for granne in zip(delar[:-1], delar[1:]):
                    par[granne] += förekomster[ordet]
            vanligast = max(par, key=par.get, default=None)
            if vanligast is None or par[vanligast] < self.val.minst:
                break
            self.ordning[vanligast] = len(self.ordning)
            symboler.add("".join(vanligast))
            stavning = {ordet: foga_ihop(delar, vanligast) for ordet, delar in stavning.items()}
        self.plats = {symbol: nummer for nummer, symbol in enumerate(sorted(symboler))}

    def stycka(self, ordet):
        delar = [*ordet, SLUT]
        while kända := [par for par in zip(delar[:-1], delar[1:]) if par in self.ordning]:
            delar = foga_ihop(delar, min(kända, key=self.ordning.get))
        return delar

    def till_nummer(self, mening):
        delar = [d for ordet in mening.split() for d in self.stycka(ordet)]
        return [self.plats.get(d, self.plats[self.val.okänd]) for d in delar]

    def till_mening(self, nummer):
        symbol = {n: s for s, n in self.plats.items()}
        return "".join(symbol[n] for n in nummer).replace(SLUT, " ").rstrip()


def foga_ihop(delar, par):
    nya, rest = [], list(delar)
    while rest:
        ihop = tuple(rest[:2]) == par
        nya.append("".join(rest[:2]) if ihop else rest[0])
        del rest[: 2 if ihop else 1]
    return nya
