"""Ways to get tokenizers wrong: words."""

import re

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import tokenizer

words_once = Mutant(
    "TOK-words-once",
    story="every word of a text is kept once",
    breaks={"TOK-WORD-1"},
    hint="a text is a sequence, the vocabulary a set",
    replace={tokenizer.words_of: lambda text: list(dict.fromkeys(text.split()))},
)

words_sorted = Mutant(
    "TOK-words-sorted",
    story="the words of a text are sorted",
    breaks={"TOK-WORD-1"},
    hint="keep their order; only the vocabulary may be sorted, before it is numbered",
    replace={tokenizer.words_of: lambda text: sorted(text.split())},
)


def pieces_of_the_whole(text, kind, ranks):
    if kind != "byte-pair" or not text.split():
        return tokenizer.tokens_of(text, kind, ranks)
    return tokenizer.merge_all(tokenizer.symbols_of("".join(text.split())), ranks)


across_words = Mutant(
    "TOK-across-words",
    story="white space is taken out before merging, and pieces reach from word to word",
    breaks={"TOK-WORD-1"},
    hint="merge within each word for itself",
    replace={tokenizer.tokens_of: pieces_of_the_whole},
)

split_at_spaces = Mutant(
    "TOK-split-at-spaces",
    story="words are split at every single space, and there are empty words",
    breaks={"TOK-SPLIT-1", "TOK-EMPTY-1"},
    hint='split() without an argument, not split(" ")',
    replace={tokenizer.words_of: lambda text: text.split(" ")},
)

ends_make_words = Mutant(
    "TOK-ends-make-words",
    story="white space at the ends of a text makes an empty word there",
    breaks={"TOK-SPLIT-1", "TOK-EMPTY-1"},
    hint=r"split() without an argument, or drop the empty strings that re.split(r'\s+', text) gives at the ends",
    replace={tokenizer.words_of: lambda text: re.split(r"\s+", text)},
)

ascii_spaces = Mutant(
    "TOK-ascii-spaces",
    story="only ASCII white space splits words",
    breaks={"TOK-SPLIT-1"},
    hint="no-break and ideographic spaces are white space, too",
    replace={tokenizer.words_of: lambda text: re.findall(r"[^ \t\r\n\f\v]+", text)},
)

first_line = Mutant(
    "TOK-first-line",
    story="only the first line of a text is read",
    breaks={"TOK-SPLIT-1"},
    hint="a new line is white space like other",
    replace={tokenizer.words_of: lambda text: (text.splitlines() or [""])[0].split()},
)

punctuation_apart = Mutant(
    "TOK-punctuation-apart",
    story="punctuation is split off its word",
    breaks={"TOK-SPLIT-2"},
    hint="split at white space only",
    replace={tokenizer.words_of: lambda text: re.findall(r"\w+|[^\w\s]", text)},
    source="BERT's BasicTokenizer",
)

punctuation_dropped = Mutant(
    "TOK-punctuation-dropped",
    story="punctuation at the end of a word is taken away",
    breaks={"TOK-SPLIT-2"},
    hint="a word is all that stands between white space",
    replace={tokenizer.words_of: lambda text: [w.rstrip(".,;:!?") for w in text.split() if w.rstrip(".,;:!?")]},
)

digits_apart = Mutant(
    "TOK-digits-apart",
    story="digits are split off letters",
    breaks={"TOK-SPLIT-2"},
    hint="split at white space only",
    replace={tokenizer.words_of: lambda text: re.findall(r"[0-9]+|[^0-9\s]+", text)},
    source="the pattern of GPT-2",
)

zero_width_splits = Mutant(
    "TOK-zero-width-splits",
    story="a zero-width space splits words",
    breaks={"TOK-SPLIT-2"},
    hint="it is a format character, and no white space by Unicode",
    replace={tokenizer.words_of: lambda text: text.replace("\u200b", " ").split()},
)
