"""Mutants of the chapter spec/tokenizer.md."""

import re
import unicodedata
from collections import Counter

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import EVERYTHING, NUMBERS, Vacuous
from attnconf.reference import tokenizer

END = tokenizer.END

# -- ids


ids_from_one = Mutant(
    "TOK-ids-from-one",
    story="ids begin at 1",
    breaks={"TOK-LOOKUP-1"},
    hint="the first token has the id 0: enumerate(vocabulary), without a start",
    replace={tokenizer.number: lambda vocabulary: {token: i for i, token in enumerate(vocabulary, 1)}},
)

vocabulary_sorted = Mutant(
    "TOK-vocabulary-sorted",
    story="the vocabulary is sorted before it is numbered",
    breaks={"TOK-LOOKUP-1"},
    hint="the id is the place in the vocabulary as it is given; a model's embedding has its rows in that order",
    replace={tokenizer.number: lambda vocabulary: {token: i for i, token in enumerate(sorted(vocabulary))}},
)


def number_as_they_come(text, kind, vocabulary, merges=(), unknown=None, specials=()):
    ids = tokenizer.encode(text, kind, vocabulary, merges, unknown, specials)
    return [list(dict.fromkeys(ids)).index(i) for i in ids]


ids_as_they_come = Mutant(
    "TOK-ids-as-they-come",
    story="tokens are numbered anew in every text, as they come",
    breaks={"TOK-LOOKUP-1"},
    hint="look tokens up in the one vocabulary",
    replace={tokenizer.encode: number_as_they_come},
)


def after_encoding(change):
    """Return encode with its ids changed; change(ids, vocabulary)."""

    def changed(text, kind, vocabulary, merges=(), unknown=None, specials=()):
        return change(tokenizer.encode(text, kind, vocabulary, merges, unknown, specials), vocabulary)

    return changed


beginning_added = Mutant(
    "TOK-beginning-added",
    story="a token for the beginning of the text is put before it, unasked",
    breaks={"TOK-LOOKUP-1"},
    hint="encode without special tokens: add_special_tokens=False",
    replace={tokenizer.encode: after_encoding(lambda ids, vocabulary: [0, *ids])},
    source="the encode of transformers, which adds them by default",
)

truncated = Mutant(
    "TOK-truncated",
    story="texts are cut off after so many ids",
    breaks={"TOK-ORACLE-1"},
    hint="no truncation here: whoever has a limit cuts the ids, and says so",
    replace={tokenizer.encode: after_encoding(lambda ids, vocabulary: ids[:100])},
)

# -- words


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

# -- characters


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

# -- unknown


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

# -- symbols and merges


mark_forgotten = Mutant(
    "TOK-mark-forgotten",
    story="the end of a word is not marked",
    breaks={"TOK-SYMBOL-1", "TOK-TRAIN-4"},
    hint='the last symbol of a word is its last character + "</w>"',
    replace={tokenizer.symbols_of: lambda word: list(word)},
)

mark_separate = Mutant(
    "TOK-mark-separate",
    story="the mark of a word's end is a symbol of its own, and nobody says so",
    breaks={"TOK-SYMBOL-1", "TOK-TRAIN-4"},
    hint='declare word-end = "separate", or attach it to the last character',
    replace={tokenizer.symbols_of: lambda word: [*word, END]},
    source="algorithm 1 of the paper",
)

mark_at_beginning = Mutant(
    "TOK-mark-at-beginning",
    story="the first symbol of a word carries the mark instead of the last",
    breaks={"TOK-SYMBOL-1", "TOK-TRAIN-4"},
    hint="mark the end",
    replace={tokenizer.symbols_of: lambda word: [word[0] + END, *word[1:]]},
)

mark_replaces_letter = Mutant(
    "TOK-mark-replaces-letter",
    story="the mark stands in place of the last character",
    breaks={"TOK-SYMBOL-1", "TOK-TRAIN-4"},
    hint="word[-1] + mark: the character stays",
    replace={tokenizer.symbols_of: lambda word: [*word[:-1], END]},
)


def longest_from_the_left(pieces, ranks):
    tokens = {one + other for one, other in ranks}
    found = []
    while pieces:
        n = next(n for n in range(len(pieces), 0, -1) if n == 1 or "".join(pieces[:n]) in tokens)
        found.append("".join(pieces[:n]))
        pieces = pieces[n:]
    return found


longest_match = Mutant(
    "TOK-longest-match",
    story="a word is taken apart into the longest tokens from the left",
    breaks={"TOK-MERGE-1"},
    hint="that is WordPiece; byte-pair encoding makes merges by their rank",
    replace={tokenizer.merge_all: longest_from_the_left},
    source="WordPiece",
)

first_from_left = Mutant(
    "TOK-first-from-left",
    story="the first pair from the left that is a merge is merged",
    breaks={"TOK-MERGE-1"},
    hint="min over all pairs by their rank",
    replace={
        tokenizer.first_learnt: lambda pieces, ranks: next(
            (pair for pair in tokenizer.neighbours(pieces) if pair in ranks), None
        ),
    },
)

last_learnt = Mutant(
    "TOK-last-learnt",
    story="the merge that was learnt last is made first",
    breaks={"TOK-MERGE-1"},
    hint="min, not max",
    replace={
        tokenizer.first_learnt: lambda pieces, ranks: max(
            (pair for pair in tokenizer.neighbours(pieces) if pair in ranks), key=lambda pair: ranks[pair], default=None
        ),
    },
)

ranks_by_length = Mutant(
    "TOK-ranks-by-length",
    story="the merge that makes the longest piece is made first",
    breaks={"TOK-MERGE-1"},
    hint="the order is that of learning",
    replace={
        tokenizer.first_learnt: lambda pieces, ranks: max(
            (pair for pair in tokenizer.neighbours(pieces) if pair in ranks), key=lambda pair: len("".join(pair)),
            default=None,
        ),
    },
)  # fmt: skip

ranks_by_name = Mutant(
    "TOK-ranks-by-name",
    story="merges are ranked in the order of their characters",
    breaks={"TOK-MERGE-1"},
    hint="the order is that of learning; do not sort them, nor keep them in a set",
    replace={tokenizer.rank: lambda merges: {pair: r for r, pair in enumerate(sorted(merges))}},
)


def merge_once(pieces, ranks):
    pair = tokenizer.first_learnt(pieces, ranks)
    return pieces if pair is None else tokenizer.merge(pieces, pair)


one_merge = Mutant(
    "TOK-one-merge",
    story="one merge is made, and that is all",
    breaks={"TOK-MERGE-2"},
    hint="repeat until no pair is a merge",
    replace={tokenizer.merge_all: merge_once},
)


def merge_symbols(pieces, ranks):
    symbols = set(pieces)
    return tokenizer.merge_all(pieces, {pair: r for pair, r in ranks.items() if symbols.issuperset(pair)})


symbols_only = Mutant(
    "TOK-symbols-only",
    story="only pairs of symbols are merged, not what merges made",
    breaks={"TOK-MERGE-2"},
    hint="take the pairs anew after every merge",
    replace={tokenizer.merge_all: merge_symbols},
)


def first_place(pieces, pair):
    pairs = tokenizer.neighbours(pieces)
    at = pairs.index(pair) if pair in pairs else len(pieces)
    return [*pieces[:at], *["".join(pair)] * (at < len(pieces)), *pieces[at + 2 :]]


def merge_first_places(pieces, ranks):
    for pair in sorted(ranks, key=ranks.__getitem__):
        pieces = first_place(pieces, pair)
    return pieces


first_place_only = Mutant(
    "TOK-first-place-only",
    story="a merge is made in the first place of a word only",
    breaks={"TOK-MERGE-3"},
    hint="go on behind the place that was merged",
    replace={tokenizer.merge_all: merge_first_places},
)


def merge_from_the_right(pieces, ranks):
    pair = tokenizer.first_learnt(pieces, ranks)
    while pair is not None:
        backwards = tokenizer.merge(pieces[::-1], pair[::-1])
        pieces = ["".join(pair) if p == "".join(pair[::-1]) else p for p in backwards[::-1]]
        pair = tokenizer.first_learnt(pieces, ranks)
    return pieces


from_the_right = Mutant(
    "TOK-from-the-right",
    story="of places that overlap the last is merged",
    breaks={"TOK-MERGE-3"},
    hint="from left to right: a a a becomes aa a",
    replace={tokenizer.merge_all: merge_from_the_right},
)


def merge_overlapping(pieces, ranks):
    pair = tokenizer.first_learnt(pieces, ranks)
    while pair is not None:
        pairs = tokenizer.neighbours(pieces)
        joined = [i for i, p in enumerate(pairs) if p == pair]
        kept = [i for i in range(len(pieces)) if i in joined or i - 1 not in joined]
        pieces = ["".join(pair) if i in joined else pieces[i] for i in kept]
        pair = tokenizer.first_learnt(pieces, ranks)
    return pieces


overlapping_twice = Mutant(
    "TOK-overlapping-twice",
    story="a piece is merged with both of its neighbours: a a a becomes aa aa",
    breaks={"TOK-MERGE-3"},
    hint="go on two pieces further after a merge",
    replace={tokenizer.merge_all: merge_overlapping},
)


def give_up(word):
    return ["<too long>"] if len(word) > 100 else tokenizer.symbols_of(word)


long_words_unknown = Mutant(
    "TOK-long-words-unknown",
    story="a word of more than 100 letters is unknown",
    breaks={"TOK-LONG-1"},
    hint="no limit",
    replace={tokenizer.symbols_of: give_up},
    source="max_input_chars_per_word of WordPiece",
    silent_on={"bpe_trainer": "no word of a corpus is that long"},
)

# -- special tokens


specials_are_text = Mutant(
    "TOK-specials-are-text",
    story="special tokens are taken apart like other text",
    breaks={"TOK-SPECIAL-1"},
    hint="cut the text at special tokens before anything else",
    replace={tokenizer.cut_at_specials: lambda text, specials: [text]},
)


def cut_where_alone(text, specials):
    return re.split(r"(?<!\S)(" + "|".join(map(re.escape, specials)) + r")(?!\S)", text) if specials else [text]


specials_alone = Mutant(
    "TOK-specials-alone",
    story="a special token is seen only where white space stands around it",
    breaks={"TOK-SPECIAL-2"},
    hint="cut the text at special tokens before it is split into words",
    replace={tokenizer.cut_at_specials: cut_where_alone},
)


def cut_once(text, specials):
    first = min((text.find(s) for s in specials if s in text), default=None)
    if first is None:
        return [text]
    special = tokenizer.special_at_start(text[first:], specials)
    return [text[:first], special, text[first + len(special) :]]


first_special_only = Mutant(
    "TOK-first-special-only",
    story="only the first special token of a text is seen",
    breaks={"TOK-SPECIAL-1"},
    hint="go on behind it",
    replace={tokenizer.cut_at_specials: cut_once},
)


def cut_with_spaces(text, specials):
    parts = tokenizer.cut_at_specials(text, specials)
    return [part.strip() for part in parts] if len(parts) > 1 else parts


space_swallowed = Mutant(
    "TOK-space-swallowed",
    story="special tokens swallow the white space around them",
    breaks={"TOK-SPECIAL-1"},
    hint="with the kind character it is text",
    replace={tokenizer.cut_at_specials: cut_with_spaces},
    source="lstrip and rstrip of the library tokenizers' AddedToken",
)


def grown_together(text, kind, vocabulary, merges=(), unknown=None, specials=()):
    within = re.findall(r"(?<=\w)(" + "|".join(map(re.escape, specials)) + r")(?=\w)", text) if specials else []
    for special in within:
        text = text.replace(special, "", 1)
    ids = tokenizer.encode(text, kind, vocabulary, merges, unknown, specials)
    return [*ids, *(vocabulary.index(special) for special in within)]


specials_taken_out = Mutant(
    "TOK-specials-taken-out",
    story="a special token within a word is taken out, and the word grows together",
    breaks={"TOK-SPECIAL-2"},
    hint="it ends a word, and begins the next",
    replace={tokenizer.encode: grown_together},
)


def cut_in_any_case(text, specials):
    for special in specials:
        text = re.sub(re.escape(special), special, text, flags=re.IGNORECASE)
    return tokenizer.cut_at_specials(text, specials)


specials_any_case = Mutant(
    "TOK-specials-any-case",
    story="special tokens are found whatever the case of their letters",
    breaks={"TOK-SPECIAL-3"},
    hint="compare them as they are written",
    replace={tokenizer.cut_at_specials: cut_in_any_case},
)


def spaces_within(text, specials):
    for special in specials:
        text = text.replace(f"{special[0]} {special[1:-1]} {special[-1]}", special)
    return tokenizer.cut_at_specials(text, specials)


specials_spaced = Mutant(
    "TOK-specials-spaced",
    story="a special token is found with spaces within its brackets, too",
    breaks={"TOK-SPECIAL-3"},
    hint="compare them as they are written",
    replace={tokenizer.cut_at_specials: spaces_within},
)

first_listed = Mutant(
    "TOK-first-listed",
    story="where one special token begins with another, the one that is listed first is taken",
    breaks={"TOK-SPECIAL-4"},
    hint="try the longest first; in a regular expression, sort the alternatives by their length",
    replace={
        tokenizer.special_at_start: lambda text, specials: next((s for s in specials if text.startswith(s)), ""),
    },
)

# -- earlier calls


def remember_by_length(config, weights):
    known = {}

    def forward(text):
        if len(text) not in known:
            known[len(text)] = adapter.tokenizer(config, weights)(text)
        return known[len(text)]

    return forward


cached_by_length = Mutant(
    "TOK-cached-by-length",
    story="ids are kept by the length of the text",
    breaks={"CALL-REPEAT-1"},
    hint="keep them by the text itself",
    replace={adapter.tokenizer: remember_by_length},
)


def appending(config, weights):
    ids = []

    def forward(text):
        ids.extend(adapter.tokenizer(config, weights)(text))
        return ids

    return forward


ids_appended = Mutant(
    "TOK-ids-appended",
    story="the ids of a text are appended to those of earlier texts",
    breaks={"CALL-REPEAT-1"},
    hint="begin with an empty list in every call; a default argument [] is the same list each time",
    replace={adapter.tokenizer: appending},
)


def growing(config, weights):
    vocabulary = list(config.vocabulary)

    def forward(text):
        for word in text.split() if config.kind == "word" and config.unknown is not None else []:
            if word not in vocabulary and not any(s in word for s in config.specials):
                vocabulary.append(word)
        return tokenizer.encode(text, config.kind, vocabulary, config.merges, config.unknown, config.specials)

    return forward


vocabulary_grows = Mutant(
    "TOK-vocabulary-grows",
    story="an unknown word gets a new id, beyond the vocabulary",
    breaks={"TOK-UNKNOWN-1"},
    hint="the vocabulary is fixed when it is made; the embedding has no row for a new id",
    replace={adapter.tokenizer: growing},
)

# -- ids to text


def shifted(i, vocabulary):
    return tokenizer.token_of(i - 1 if i > 0 else i, vocabulary)


decode_from_one = Mutant(
    "TOK-decode-from-one",
    story="ids are taken to begin at 1",
    breaks={"TOK-DECODE-1"},
    hint="the token with the id i is vocabulary[i]",
    replace={tokenizer.token_of: shifted},
)

decode_sorted = Mutant(
    "TOK-decode-sorted",
    story="ids are looked up in the sorted vocabulary",
    breaks={"TOK-DECODE-1"},
    hint="look them up in the vocabulary as it is given",
    replace={tokenizer.token_of: lambda i, vocabulary: tokenizer.token_of(i, sorted(vocabulary))},
)

negative_from_end = Mutant(
    "TOK-negative-from-end",
    story="a negative id is a token from the vocabulary's end",
    breaks={"TOK-DECODE-6"},
    hint="compare with 0 and raise an error: a list takes -1 for its last element",
    replace={tokenizer.token_of: lambda i, vocabulary: vocabulary[i]},
)

ids_clamped = Mutant(
    "TOK-ids-clamped",
    story="an id beyond the vocabulary is its last token",
    breaks={"TOK-DECODE-6"},
    hint="raise an error",
    replace={tokenizer.token_of: lambda i, vocabulary: vocabulary[max(0, min(i, len(vocabulary) - 1))]},
)

ids_dropped = Mutant(
    "TOK-ids-dropped",
    story="an id that no token has is left out",
    breaks={"TOK-DECODE-6"},
    hint="raise an error: such ids come from another vocabulary",
    replace={tokenizer.token_of: lambda i, vocabulary: vocabulary[i] if 0 <= i < len(vocabulary) else ""},
    source="transformers#20781",
)


def joining(**how):
    """Return join with another way for some kinds, each under the first word of its name."""

    def changed(tokens, kind):
        return how.get(kind.partition("-")[0], lambda given: tokenizer.join_tokens(given, kind))(list(tokens))

    return changed


words_glued = Mutant(
    "TOK-words-glued",
    story="words are joined without spaces",
    breaks={"TOK-DECODE-2"},
    hint='" ".join(words)',
    replace={tokenizer.join_tokens: joining(word="".join)},
)

spaces_cleaned = Mutant(
    "TOK-spaces-cleaned",
    story="spaces before punctuation are taken out",
    breaks={"TOK-DECODE-2"},
    hint="text is not made more beautiful: clean_up_tokenization_spaces=False",
    replace={tokenizer.join_tokens: joining(word=lambda words: re.sub(" ([.,])", r"\1", " ".join(words)))},
    source="clean_up_tokenization_spaces of transformers",
)

characters_spaced = Mutant(
    "TOK-characters-spaced",
    story="characters are joined with spaces between them",
    breaks={"TOK-DECODE-3"},
    hint='"".join(characters)',
    replace={tokenizer.join_tokens: joining(character=" ".join)},
)

characters_stripped = Mutant(
    "TOK-characters-stripped",
    story="spaces side by side become one when characters are joined",
    breaks={"TOK-DECODE-3"},
    hint="white space is text",
    replace={tokenizer.join_tokens: joining(character=lambda tokens: re.sub(" +", " ", "".join(tokens)))},
)

mark_kept = Mutant(
    "TOK-mark-kept",
    story="the marks are left in the text",
    breaks={"TOK-DECODE-4"},
    hint="each becomes a space, but the last",
    replace={tokenizer.join_pieces: lambda pieces: "".join(pieces)},
)

mark_lost = Mutant(
    "TOK-mark-lost",
    story="the marks are taken out, and words grow together",
    breaks={"TOK-DECODE-4"},
    hint="each becomes a space, but the last",
    replace={tokenizer.join_pieces: lambda pieces: "".join(pieces).replace(END, "")},
)

space_at_end = Mutant(
    "TOK-space-at-end",
    story="a space is left at the end of the text",
    breaks={"TOK-DECODE-4"},
    hint="the last mark becomes nothing",
    replace={tokenizer.join_pieces: lambda pieces: "".join(pieces).replace(END, " ")},
)

pieces_spaced = Mutant(
    "TOK-pieces-spaced",
    story="pieces are joined with spaces between them",
    breaks={"TOK-DECODE-4"},
    hint="only a mark is a space",
    replace={tokenizer.join_pieces: lambda pieces: " ".join(pieces).replace(END, "")},
)


def keeping(kept):
    """Return decode of the tokens that are kept; kept(token)."""

    def changed(ids, kind, vocabulary):
        return tokenizer.decode(
            [i for i in ids if not 0 <= i < len(vocabulary) or kept(vocabulary[i])], kind, vocabulary
        )

    return changed


specials_skipped = Mutant(
    "TOK-specials-skipped",
    story="special tokens are left out",
    breaks={"TOK-DECODE-5"},
    hint="keep them: skip_special_tokens=False",
    replace={tokenizer.decode: keeping(lambda token: token not in ("<eos>", "[sep]"))},
    source="the decode of the library tokenizers, which skips them by default",
)

unknown_skipped = Mutant(
    "TOK-unknown-skipped",
    story="the unknown token is left out",
    breaks={"TOK-DECODE-5"},
    hint="say that something was there",
    replace={tokenizer.decode: keeping(lambda token: token != "<unk>")},
)

decode_truncated = Mutant(
    "TOK-decode-truncated",
    story="a text ends after sixteen tokens",
    breaks={"TOK-ROUND-1"},
    hint="decode all ids",
    replace={tokenizer.decode: lambda ids, kind, vocabulary: tokenizer.decode(list(ids)[:16], kind, vocabulary)},
)


def from_the_first(ids, kind, vocabulary):
    tokenizer.token_of(ids[0], vocabulary)
    return tokenizer.decode(ids, kind, vocabulary)


empty_refused = Mutant(
    "TOK-empty-refused",
    story="no ids raise an error",
    breaks={"TOK-DECODE-7"},
    hint="an empty text has no ids",
    replace={tokenizer.decode: from_the_first},
    raises={"TOK-DECODE-7"},
)


def popping(config, weights):
    def forward(ids):
        tokens = []
        while ids:
            tokens.append(tokenizer.token_of(ids.pop(0), config.vocabulary))
        return tokenizer.join_tokens(tokens, config.kind)

    return forward


ids_popped = Mutant(
    "TOK-ids-popped",
    story="ids are popped off the caller's list",
    breaks={"CALL-IMMUT-1"},
    hint="iterate over the list",
    replace={adapter.detokenizer: popping},
)


def remembering_text(config, weights):
    earlier = []

    def forward(ids):
        earlier.extend(ids)
        return tokenizer.decode(earlier, config.kind, config.vocabulary)

    return forward


text_continued = Mutant(
    "TOK-text-continued",
    story="a text begins with the texts of earlier calls",
    breaks={"CALL-REPEAT-1"},
    hint="decode the ids of this call",
    replace={adapter.detokenizer: remembering_text},
)

# -- learning


least_frequent = Mutant(
    "TOK-least-frequent",
    story="the rarest pair is merged",
    breaks={"TOK-TRAIN-1"},
    hint="max, not min",
    replace={tokenizer.most_frequent: lambda counts: min(counts, key=lambda pair: (counts[pair], pair))},
)

first_pair = Mutant(
    "TOK-first-pair",
    story="pairs are merged as they come, whatever their counts",
    breaks={"TOK-TRAIN-1"},
    hint="max(counts, key=counts.get), not max(counts)",
    replace={tokenizer.most_frequent: lambda counts: next(iter(counts))},
)

last_pair = Mutant(
    "TOK-last-pair",
    story="the pair that is last in the order of characters is merged, whatever its count",
    breaks={"TOK-TRAIN-1"},
    hint="max(counts, key=counts.get), not max(counts)",
    replace={tokenizer.most_frequent: lambda counts: max(counts)},
)


def count_words_once(corpus):
    return tokenizer.count_pairs(dict.fromkeys(corpus, 1))


words_unweighted = Mutant(
    "TOK-words-unweighted",
    story="a pair is counted once for each different word, however often that word occurs",
    breaks={"TOK-TRAIN-2"},
    hint="add the frequency of the word, not 1",
    replace={tokenizer.count_pairs: count_words_once},
)


def count_in_words(corpus):
    counts = Counter()
    for pieces, n in corpus.items():
        for pair in dict.fromkeys(tokenizer.neighbours(pieces)):
            counts[pair] += n
    return counts


places_once = Mutant(
    "TOK-places-once",
    story="a pair is counted once for each word, in however many places it stands there",
    breaks={"TOK-TRAIN-2"},
    hint="count all places, not the set of them",
    replace={tokenizer.count_pairs: count_in_words},
)


def count_apart(corpus):
    counts = Counter()
    for pieces, n in corpus.items():
        last = None
        for pair in tokenizer.neighbours(pieces):
            overlaps = pair == last and pair[0] == pair[1]
            counts[pair] += 0 if overlaps else n
            last = None if overlaps else pair
    return counts


overlapping_once = Mutant(
    "TOK-overlapping-once",
    story="of places that overlap one is counted",
    breaks={"TOK-TRAIN-8"},
    hint="count every pair of neighbours",
    replace={tokenizer.count_pairs: count_apart},
    source="str.count, which counts so",
)


def train_on_one_string(words, num_merges):
    pieces = [symbol for word in words if word for symbol in tokenizer.symbols_of(word)]
    merges = []
    while len(merges) < num_merges and len(pieces) > 1:
        pair = tokenizer.most_frequent(tokenizer.count_pairs({tuple(pieces): 1}))
        merges.append(pair)
        pieces = tokenizer.merge(pieces, pair)
    return merges


across_ends = Mutant(
    "TOK-across-ends",
    story="the corpus is one string, and pairs reach over the ends of words",
    breaks={"TOK-TRAIN-3"},
    hint="count pairs within each word",
    replace={tokenizer.train: train_on_one_string},
)


def train_at_once(words, num_merges):
    counts = tokenizer.count_pairs({tuple(tokenizer.symbols_of(w)): n for w, n in Counter(words).items() if w})
    return sorted(counts, key=lambda pair: (counts[pair], pair), reverse=True)[:num_merges]


counted_once = Mutant(
    "TOK-counted-once",
    story="pairs are counted once, and the most frequent of them are the merges",
    breaks={"TOK-TRAIN-5"},
    hint="merge, then count again",
    replace={tokenizer.train: train_at_once},
)


def train_with(num_merges_of=lambda n: n, least=1, merge=tokenizer.merge):
    """Return train with one thing changed."""

    def changed(words, num_merges):
        corpus = {tuple(tokenizer.symbols_of(word)): n for word, n in Counter(words).items() if word}
        merges = []
        while len(merges) < num_merges_of(num_merges):
            counts = tokenizer.count_pairs(corpus)
            if not counts or max(counts.values()) < least:
                break
            merges.append(tokenizer.most_frequent(counts))
            corpus = {tuple(merge(pieces, merges[-1])): n for pieces, n in corpus.items()}
        return merges

    return changed


learnt_in_first_place = Mutant(
    "TOK-learnt-in-first-place",
    story="while learning, a merge is made in the first place of a word only",
    breaks={"TOK-TRAIN-5"},
    hint="make it in every place before counting again",
    replace={tokenizer.train: train_with(merge=first_place)},
)

one_too_many = Mutant(
    "TOK-one-too-many",
    story="one merge more is learnt than is asked for",
    breaks={"TOK-TRAIN-6"},
    hint="range(num_merges)",
    replace={tokenizer.train: train_with(num_merges_of=lambda n: n + 1)},
)

one_too_few = Mutant(
    "TOK-one-too-few",
    story="one merge less is learnt than is asked for",
    breaks={"TOK-TRAIN-6"},
    hint="range(num_merges)",
    replace={tokenizer.train: train_with(num_merges_of=lambda n: n - 1 if n > 2 else n)},
)

at_least_two = Mutant(
    "TOK-at-least-two",
    story="pairs that occur once are not merged",
    breaks={"TOK-TRAIN-6"},
    hint="go on while there are pairs; a least frequency is an option",
    replace={tokenizer.train: train_with(least=2)},
    source="min_frequency of subword-nmt, 2 by default",
)


def train_to_the_end(words, num_merges):
    corpus = {tuple(tokenizer.symbols_of(word)): n for word, n in Counter(words).items() if word}
    merges = []
    for _ in range(num_merges):
        pair = tokenizer.most_frequent(tokenizer.count_pairs(corpus))
        merges.append(pair)
        corpus = {tuple(tokenizer.merge(pieces, pair)): n for pieces, n in corpus.items()}
    return merges


no_end = Mutant(
    "TOK-no-end",
    story="where no pair is left, learning raises an error",
    breaks={"TOK-TRAIN-7"},
    hint="stop when there are no counts: max of nothing raises",
    replace={tokenizer.train: train_to_the_end},
    raises={"TOK-TRAIN-7"},
    source="the listing of the paper",
)

first_met = Mutant(
    "TOK-first-met",
    story="of pairs that occur equally often the one that was met first is taken",
    breaks={"TOK-TRAIN-9"},
    hint="max(counts, key=lambda pair: (counts[pair], pair))",
    replace={tokenizer.most_frequent: lambda counts: max(counts, key=counts.get)},
    source="the listing of the paper, in any Python that keeps the order of dictionaries",
)


def sorting(config, weights):
    def forward(words):
        words.sort()
        return tokenizer.train(words, config.num_merges)

    return forward


words_sorted_in_place = Mutant(
    "TOK-words-sorted-in-place",
    story="the caller's list of words is sorted",
    breaks={"CALL-IMMUT-1"},
    hint="sorted(words), not words.sort()",
    replace={adapter.bpe_trainer: sorting},
)


def remembering_words(config, weights):
    known = []

    def forward(words):
        known.extend(words)
        return tokenizer.train(known, config.num_merges)

    return forward


corpus_grows = Mutant(
    "TOK-corpus-grows",
    story="merges are learnt from the words of earlier calls, too",
    breaks={"CALL-REPEAT-1"},
    hint="begin with empty counts in every call",
    replace={adapter.bpe_trainer: remembering_words},
)

# -- what computes nothing passes by definition

VACUOUS = (
    Vacuous(EVERYTHING, "TOK-DECODE-7", "of nothing comes nothing"),
    Vacuous(EVERYTHING, "TOK-TRAIN-6", "the number of merges is right, whatever they are"),
    Vacuous(("zeros", "ones", "echo"), "TOK-SPLIT-1 TOK-SPECIAL-3", "ids that depend on the number of words only"),
    Vacuous(("zeros", "ones"), "TOK-WORD-1", "the same id for every word"),
    Vacuous((*NUMBERS, "nan"), "TOK-TRAIN-9", "the words are not read, and so their order is not"),
)
