"""Zerlegt Wörter in Teilwörter (BPE). Das Wortende ist ein eigenes Zeichen."""

ENDE = "</w>"


class Teilwoerter:
    def __init__(self, rules, letters, unk="<unk>", bos="<s>"):
        self.rang = {tuple(r): nr for nr, r in enumerate(rules)}
        self.unk, self.bos = unk, bos
        self.nummer = {}
        for stueck in [bos, *letters, ENDE, unk, *map("".join, rules)]:
            self.nummer.setdefault(stueck, len(self.nummer))
        self.stueck = {nr: s for s, nr in self.nummer.items()}

    def zerlege(self, wort):
        teile = [*wort, ENDE]
        while True:
            raenge = [self.rang.get(p, len(self.rang)) for p in zip(teile, teile[1:])]
            bester = min(raenge, default=len(self.rang))
            if bester == len(self.rang):
                return teile
            neu = []
            for teil in teile:
                # ein zusammengesetztes Stück wird kein zweites Mal benutzt
                if neu and not neu[-1][1] and self.rang.get((neu[-1][0], teil)) == bester:
                    neu[-1] = (neu[-1][0] + teil, True)
                else:
                    neu.append((teil, False))
            teile = [t for t, _ in neu]

    def encode(self, text):
        fremd = self.nummer[self.unk]
        return [self.nummer.get(t, fremd) for wort in text.split() for t in self.zerlege(wort)]

    def decode(self, ids):
        for i in ids:
            if i not in self.stueck:
                raise ValueError(f"{i} ist keine Nummer")
        text = "".join(self.stueck[i] for i in ids)
        return text.removesuffix(ENDE).replace(ENDE, " ")
