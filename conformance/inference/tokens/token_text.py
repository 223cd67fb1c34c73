"""Tokenizers and detokenizers of the user's, as the text of an adapter's functions."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from attnconf.conformance.inference.tokens.learnt import READINGS
from attnconf.conformance.inference.trials.slots import Hypothesis, Slots, refuse

LIST = "list(config.vocabulary)"
NUMBERS = "{token: i for i, token in enumerate(config.vocabulary)}"
TOKENS = "dict(enumerate(config.vocabulary))"
UNKNOWN_ID = "None if config.unknown is None else config.vocabulary.index(config.unknown)"
NO_ID = "-1"  # what an object takes for its padding has no id in another vocabulary
NUMBERED = r"(pad(ding)?|bos|eos|sos|cls|sep|mask|start|end)(_?(id|idx|index|token(_?id)?))?"
OWN = r"(pad(ding)?|bos|eos|sos|cls|sep|mask|start|end)(_?(token|tok|symbol|word))?"  # a token that is called so
# What parameters of constructors and functions are called.
ROLES: Mapping[str, str] = {
    "numbers": r"(stoi|str_?to_?int|(token|word|char(acter)?|tok|item)s?_?(to|2)_?(id|idx|ix|index|int|i)s?|encoder|"
    r"word_?index|index|vocab(ulary)?|mapping|lookup|vocab_?dict)",
    "tokens": r"(itos|int_?to_?str|(id|idx|ix|index|int|i)s?_?(to|2)_?(token|word|char|str|character)s?|decoder|"
    r"inverse_?vocab)",
    "list": r"(vocab(ulary)?|alphabet|chars?|characters|tokens?|words?|symbols|letters|token_?list|charset|word_?list|"
    r"pieces)",
    "merges": r"(bpe_?)?(merges?|rules?|ranks|merge_?rules|codes|pairs)",
    "unknown": r"unk(nown)?(_?(token|tok|word|char|symbol))?|oov(_?token)?",
    "unknown_id": r"unk(nown)?_?(id|idx|index)",
    "specials": r"specials?(_?tokens)?|added_?tokens|extra_?tokens",
    "text": r"text|s|string|sentence|x|sequence|line|texts?|document|input",
    "ids": r"ids|tokens?|token_?ids|indices|l|x|idxs?|encoded|numbers|t|i|sequence",
    "corpus": r"text|corpus|data|documents?|sentences|texts|lines",
    "kind": r"kind|level|mode|type|granularity",
}
VALUES: Mapping[str, tuple[str, ...]] = {
    "numbers": (NUMBERS,),
    "tokens": (TOKENS, LIST),
    "list": (LIST, NUMBERS, TOKENS),
    "merges": ("list(config.merges)", "{pair: rank for rank, pair in enumerate(config.merges)}",
               '[" ".join(pair) for pair in config.merges]',
               '{pair: "".join(pair) for pair in config.merges}'),
    "unknown": ("config.unknown",),
    "unknown_id": (UNKNOWN_ID,),
    "specials": ("list(config.specials)", "{s: config.vocabulary.index(s) for s in config.specials}"),
    "corpus": (LIST,),
    "kind": ("config.kind",),
}  # fmt: skip
ENCODE = (
    "encode",
    "__call__",
    "text_to_ids",
    "to_ids",
    "encode_ids",
    "convert_text_to_ids",
    "transform",
    "numericalize",
    "tokenize",
    "encoder",
)
DECODE = ("decode", "ids_to_text", "to_text", "detokenize", "inverse_transform", "untokenize", "decoder")
TOKENIZE = ("tokenize", "split", "_tokenize")
TO_IDS = ("convert_tokens_to_ids", "tokens_to_ids", "numericalize", "lookup_tokens", "encode")
REFUSALS = {
    "small": ("text != text.lower()", "capital letters: they are made small before"),
    "split": ("any(not c.isalnum() and not c.isspace() for c in text)", "punctuation: it is split off before"),
}
MARKS = "any(len(config.vocabulary[i]) == 1 and not config.vocabulary[i].isalnum() for i in ids)"
KINDS = ("word", "character", "byte-pair")


@dataclass(frozen=True)
class TokenText(Hypothesis):
    """All that is known, or supposed, of something that makes ids of texts, or texts of ids."""

    kind: str
    before: tuple[str, ...] = ()
    made: str = ""  # an expression of the object; nothing for a function
    encode: str = ""  # an expression of ``made`` and ``text``
    decode: str = ""  # an expression of ``made`` and ``ids``
    decodes: tuple[str, ...] = ()  # what ``decode`` may be
    own: tuple[str, str] = ("", "")  # what builds it with a vocabulary of its own, and what method learns that
    learnt: tuple[str, ...] = ()  # what learning its vocabulary does to a text before
    steps: tuple[str, ...] = ()  # of these, what encoding does, too: it is refused
    own_unknown: str = ""  # what it has for an unknown token, which it cannot be told
    reading: str = "attached"  # what symbols of byte pairs are, of READINGS
    needs_unknown: bool = False  # there is no way to do without an unknown token

    @property
    def whole(self) -> str:
        return " ".join((*self.before, self.made, self.encode))

    def conventions(self) -> Mapping[str, str]:
        symbols = {} if self.reading == "attached" else READINGS[self.reading]
        return {"token-kind": self.kind, **symbols}

    def slots(self) -> tuple[Slots, ...]:
        build = [*self.before, *([f"made = {self.made}"] if self.made else [])]
        refusals = tuple(self._refusals())
        encoding = Slots("tokenizer", "text", refusals, build, masks=self._not_encoded(), call=self.encode)
        decoding = Slots("detokenizer", "ids", refusals, build, masks=self._not_decoded(), call=self.decode)
        return tuple(slots for slots in (encoding, decoding) if slots.call)

    def _not_encoded(self) -> list[str]:
        """Return the refusals of texts."""
        lines = []
        if self.reading == "bytes":
            lines += refuse("strange_in(text, config, as_bytes=True)", "an unknown token")
        told = "config.unknown" in self.whole or self.own_unknown
        if not told and (self.kind != "byte-pair" or re.search(r"\b(to_ours|numbered)\(", self.whole)):
            lines += refuse("config.unknown is not None and unknown_in(text, config)", "an unknown token")
        for step in self.steps:
            lines += refuse(*REFUSALS[step])
        return lines

    def _not_decoded(self) -> list[str]:
        """Return the refusals of ids: what was split may be undone."""
        return refuse(MARKS, "punctuation: it may be joined to its word again") if "split" in self.steps else []

    def _refusals(self) -> Iterator[str]:
        yield from refuse(f'config.kind != "{self.kind}"', "tokens of another kind")
        if "config.specials" not in self.whole:
            yield from refuse("config.specials", "special tokens")
        if self.own_unknown or (self.needs_unknown and "config.unknown" in self.whole):
            yield from refuse("config.unknown is None", "doing without an unknown token")
