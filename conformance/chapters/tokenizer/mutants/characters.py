"""Ways to get tokenizers wrong: characters."""

import re
import unicodedata

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import tokenizer


def with_text(change):
    """Return encode of a text that was changed before."""

    def changed(text, kind, vocabulary, merges=(), unknown=None, specials=()):
        return tokenizer.encode(change(text), kind, vocabulary, merges, unknown, specials)

    return changed


small_letters = Mutant(
    "TOK-small-letters",
    story="texts are put into small letters",
    breaks={"TOK-ASIS-1"},
    hint="look words up as they are written",
    replace={tokenizer.encode: with_text(str.lower)},
    source="the uncased models of BERT",
)

composed = Mutant(
    "TOK-composed",
    story="texts are composed (NFC)",
    breaks={"TOK-UNICODE-1"},
    hint="no normalization: two code points that look like one are two",
    replace={tokenizer.encode: with_text(lambda text: unicodedata.normalize("NFC", text))},
)

decomposed = Mutant(
    "TOK-decomposed",
    story="texts are decomposed (NFD)",
    breaks={"TOK-UNICODE-1"},
    hint="no normalization",
    replace={tokenizer.encode: with_text(lambda text: unicodedata.normalize("NFD", text))},
)

compatible = Mutant(
    "TOK-compatible",
    story="ligatures, circled digits and the like become plain characters (NFKC)",
    breaks={"TOK-UNICODE-1"},
    hint="no normalization",
    replace={tokenizer.encode: with_text(lambda text: unicodedata.normalize("NFKC", text))},
    source="SentencePiece, which does so by default",
)


def without_accents(text):
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")


accents_stripped = Mutant(
    "TOK-accents-stripped",
    story="accents are taken off letters",
    breaks={"TOK-UNICODE-1"},
    hint="no normalization",
    replace={tokenizer.encode: with_text(without_accents)},
    source="BERT's BasicTokenizer",
)

invisible_dropped = Mutant(
    "TOK-invisible-dropped",
    story="invisible characters are dropped: an emoji of several parts falls apart, words grow together",
    breaks={"TOK-SPLIT-2"},
    hint="a zero-width joiner is a character of the text",
    replace={
        tokenizer.encode: with_text(lambda text: "".join(c for c in text if unicodedata.category(c) != "Cf")),
    },
)


def units(text, kind, ranks):
    halves = text.encode("utf-16-be", "surrogatepass")
    return tokenizer.tokens_of(
        "".join(chr(a << 8 | b) for a, b in zip(halves[::2], halves[1::2], strict=True)), kind, ranks
    )


sixteen_bits = Mutant(
    "TOK-sixteen-bits",
    story="characters are units of 16 bits: an emoji is two, each of them unknown",
    breaks={"TOK-UNICODE-1"},
    hint="iterate over code points: [...text] in JavaScript, not text.split('')",
    replace={tokenizer.tokens_of: units},
)


def clusters(text, kind, ranks):
    if kind != "character":
        return tokenizer.tokens_of(text, kind, ranks)
    return re.findall("(?s:.[\u0300-\u036f\u200d]*)", text)


accents_joined = Mutant(
    "TOK-accents-joined",
    story="a letter and its accent are one character",
    breaks={"TOK-UNICODE-1"},
    hint="a character is a code point here",
    replace={tokenizer.tokens_of: clusters},
)


def characters(change):
    """Return tokens_of with another way to take a text apart into characters."""

    def changed(text, kind, ranks):
        return list(change(text)) if kind == "character" else tokenizer.tokens_of(text, kind, ranks)

    return changed


spaces_dropped = Mutant(
    "TOK-spaces-dropped",
    story="with the kind character white space is left out",
    breaks={"TOK-CHAR-1"},
    hint="a space is a character like others, or words grow together",
    replace={tokenizer.tokens_of: characters(lambda text: "".join(text.split()))},
)

ends_stripped = Mutant(
    "TOK-ends-stripped",
    story="with the kind character white space at the ends of a text is left out",
    breaks={"TOK-CHAR-1"},
    hint="no strip()",
    replace={tokenizer.tokens_of: characters(str.strip)},
)

characters_once = Mutant(
    "TOK-characters-once",
    story="with the kind character every character is kept once",
    breaks={"TOK-CHAR-1"},
    hint="list(text), not sorted(set(text)), which is how the vocabulary is made",
    replace={tokenizer.tokens_of: characters(dict.fromkeys)},
)
