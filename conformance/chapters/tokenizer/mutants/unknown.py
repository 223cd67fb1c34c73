"""Ways to get tokenizers wrong: unknown."""

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import tokenizer


def drop_unknown(text, kind, vocabulary, merges=(), unknown=None, specials=()):
    missing = "\x00"  # no text's
    ids = tokenizer.encode(text, kind, (*vocabulary, missing), merges, missing, specials)
    return [i for i in ids if i < len(vocabulary)]


unknown_dropped = Mutant(
    "TOK-unknown-dropped",
    story="what is not in the vocabulary is left out",
    breaks={"TOK-UNKNOWN-1", "TOK-UNKNOWN-2", "TOK-UNKNOWN-3"},
    hint="it becomes the unknown token, or an error",
    replace={tokenizer.encode: drop_unknown},
)


def drop_without_unknown(text, kind, vocabulary, merges=(), unknown=None, specials=()):
    encode = drop_unknown if unknown is None else tokenizer.encode
    return encode(text, kind, vocabulary, merges, unknown, specials)


unknown_dropped_silently = Mutant(
    "TOK-unknown-dropped-silently",
    story="without an unknown token, what is not in the vocabulary is left out",
    breaks={"TOK-UNKNOWN-2"},
    hint="raise an error: the caller must know that the text was changed",
    replace={tokenizer.encode: drop_without_unknown},
    source="tokenizers#517",
)

unknown_first = Mutant(
    "TOK-unknown-first",
    story="what is not in the vocabulary gets the id 0, whatever token that is",
    breaks={"TOK-UNKNOWN-1", "TOK-UNKNOWN-2", "TOK-UNKNOWN-3"},
    hint="look up the id of the unknown token",
    replace={tokenizer.look_up: lambda token, numbers, unknown: numbers.get(token, 0)},
)

unknown_negative = Mutant(
    "TOK-unknown-negative",
    story="without an unknown token, what is not in the vocabulary gets the id -1",
    breaks={"TOK-UNKNOWN-2"},
    hint="raise an error; -1 would look up the last row of an embedding",
    replace={tokenizer.look_up: lambda token, numbers, unknown: numbers.get(token, numbers.get(unknown, -1))},
)


def look_up_or_fail(token, numbers, unknown):
    return numbers[token]


unknown_refused = Mutant(
    "TOK-unknown-refused",
    story="what is not in the vocabulary raises an error, although there is an unknown token",
    breaks={"TOK-UNKNOWN-1", "TOK-UNKNOWN-3"},
    hint="numbers.get(token, numbers[unknown])",
    replace={tokenizer.look_up: look_up_or_fail},
    raises={"TOK-UNKNOWN-1", "TOK-UNKNOWN-3"},
)


def spell(text, kind, vocabulary, merges=(), unknown=None, specials=()):
    if kind == "word" and not any(special in text for special in specials):
        known = [[w] if w in vocabulary or unknown is None else [*w] for w in text.split()]
        text = " ".join(token for tokens in known for token in tokens)
    return tokenizer.encode(text, kind, vocabulary, merges, unknown, specials)


unknown_spelt = Mutant(
    "TOK-unknown-spelt",
    story="with the kind word an unknown word becomes an unknown token for each of its letters",
    breaks={"TOK-UNKNOWN-1"},
    hint="one unknown word, one unknown token",
    replace={tokenizer.encode: spell},
)


def fuse(text, kind, vocabulary, merges=(), unknown=None, specials=()):
    ids = tokenizer.encode(text, kind, vocabulary, merges, unknown, specials)
    missing = vocabulary.index(unknown) if unknown is not None and kind == "byte-pair" else None
    return [i for at, i in enumerate(ids) if i != missing or at == 0 or ids[at - 1] != missing]


unknown_fused = Mutant(
    "TOK-unknown-fused",
    story="unknown characters side by side become one unknown token",
    breaks={"TOK-UNKNOWN-3"},
    hint="one unknown character, one unknown token",
    replace={tokenizer.encode: fuse},
    source="fuse_unk of the library tokenizers",
)


def all_or_nothing(text, kind, vocabulary, merges=(), unknown=None, specials=()):
    def known(word):
        return any(s in word for s in specials) or all(symbol in vocabulary for symbol in tokenizer.symbols_of(word))

    if kind == "byte-pair" and unknown is not None:
        text = " ".join(word if known(word) else "\x00" for word in text.split())
    return tokenizer.encode(text, kind, vocabulary, merges, unknown, specials)


word_unknown = Mutant(
    "TOK-word-unknown",
    story="a word with an unknown character is unknown as a whole",
    breaks={"TOK-UNKNOWN-3"},
    hint="only the character is; the pieces beside it are known",
    replace={tokenizer.encode: all_or_nothing},
    source="WordPiece",
)
