"""Assignment 1: byte-level BPE tokenizer from a vocabulary and merges that were trained before."""

import re
from collections.abc import Iterable, Iterator

CHUNK = re.compile(r"'(?:[sdmt]|ll|ve|re)| ?\w+| ?[^\s\w]+|\s+(?!\S)|\s+")


class Tokenizer:
    def __init__(
        self,
        vocab: dict[int, bytes],
        merges: list[tuple[bytes, bytes]],
        special_tokens: list[str] | None = None,
    ):
        self.vocab = dict(vocab)
        self.order = {pair: i for i, pair in enumerate(merges)}
        self.special = sorted(special_tokens or [], key=len, reverse=True)
        for token in self.special:
            if token.encode() not in self.vocab.values():
                self.vocab[len(self.vocab)] = token.encode()
        self.number = {token: i for i, token in self.vocab.items()}

    def _chunk(self, chunk: str) -> list[int]:
        parts = [bytes([b]) for b in chunk.encode("utf-8")]
        while True:
            ranked = [(self.order[p], i) for i, p in enumerate(zip(parts, parts[1:])) if p in self.order]
            if not ranked:
                return [self.number[p] for p in parts]
            _, i = min(ranked)
            parts[i : i + 2] = [parts[i] + parts[i + 1]]

    def encode(self, text: str) -> list[int]:
        pieces = [text]
        if self.special:
            pieces = re.split("(" + "|".join(map(re.escape, self.special)) + ")", text)
        ids = []
        for piece in pieces:
            if piece in self.special:
                ids.append(self.number[piece.encode()])
            else:
                for chunk in CHUNK.findall(piece):
                    ids += self._chunk(chunk)
        return ids

    def encode_iterable(self, lines: Iterable[str]) -> Iterator[int]:
        for line in lines:
            yield from self.encode(line)

    def decode(self, ids: list[int]) -> str:
        return b"".join(self.vocab[i] for i in ids).decode("utf-8", errors="replace")
