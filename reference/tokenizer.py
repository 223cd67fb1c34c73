"""Tokenizers: text to ids and back, and byte-pair encoding learnt from words.

Symbols as in spec/tokenizer.md: a *symbol* is what a word is made of before anything is merged, a *piece* what is left
after it, a *token* what has an id. ``END`` stands at the end of the last symbol of a word.

Source: Sennrich, Haddow and Birch 2016, arXiv:1508.07909v5, section 3.2 and algorithm 1.
Deviates: the mark of a word's end is part of its last character, as in the authors' program subword-nmt from
version 0.2 on, and no symbol of its own.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

END = "</w>"
Pair = tuple[str, str]


# -- text to ids


def encode(
    text: str, kind: str, vocabulary: Sequence[str], merges: Sequence[Pair] = (), unknown: str | None = None,
    specials: Sequence[str] = (),
) -> list[int]:  # fmt: skip
    """Return the ids of a text, each in 0 … len(vocabulary) - 1.

    ``kind``: "word", "character" or "byte-pair". ``merges`` in the order in which they were learnt.
    Raises ValueError for what is not in the vocabulary where there is no unknown token.

    Requirements: TOK-LOOKUP-1, TOK-UNKNOWN-1, TOK-UNKNOWN-2, TOK-SPECIAL-1, TOK-SPECIAL-2.
    """
    ranks = rank(merges)
    numbers = number(vocabulary)
    tokens: list[str] = []
    for part in cut_at_specials(text, specials):
        tokens += [part] if part in specials else tokens_of(part, kind, ranks)
    return [look_up(token, numbers, unknown) for token in tokens]


def number(vocabulary: Sequence[str]) -> dict[str, int]:
    """Return the id of each token: its place in the vocabulary."""
    return {token: i for i, token in enumerate(vocabulary)}


def rank(merges: Sequence[Pair]) -> dict[Pair, int]:
    """Return the rank of each merge: 0 for the one that was learnt first."""
    return {pair: r for r, pair in enumerate(merges)}


def look_up(token: str, numbers: Mapping[str, int], unknown: str | None) -> int:
    """Return the id of a token, or that of the unknown token. Raises ValueError where there is neither."""
    if token in numbers:
        return numbers[token]
    if unknown is None:
        raise ValueError(f"{token!r} is not in the vocabulary, and there is no unknown token")
    return numbers[unknown]


def cut_at_specials(text: str, specials: Sequence[str]) -> list[str]:
    """Return the parts of a text: special tokens, and what stands between them.

    Requirements: TOK-SPECIAL-2, TOK-SPECIAL-3.
    """
    parts = [""]
    while text:
        special = special_at_start(text, specials)
        if special:
            parts += [special, ""]
        else:
            parts[-1] += text[0]
        text = text[len(special) or 1 :]
    return parts


def special_at_start(text: str, specials: Sequence[str]) -> str:
    """Return the longest special token that the text begins with, or nothing. Requirement: TOK-SPECIAL-4."""
    return max((s for s in specials if text.startswith(s)), key=len, default="")


def tokens_of(text: str, kind: str, ranks: Mapping[Pair, int]) -> list[str]:
    """Return the tokens of a text without special tokens, be they in the vocabulary or not."""
    if kind == "character":
        return list(text)
    if kind == "word":
        return words_of(text)
    return [piece for word in words_of(text) for piece in merge_all(symbols_of(word), ranks)]


def words_of(text: str) -> list[str]:
    """Return what stands between white space. Requirements: TOK-SPLIT-1, TOK-EMPTY-1, TOK-ASIS-1."""
    return text.split()


def symbols_of(word: str) -> list[str]:
    """Return the characters of a word, the last one with the mark of the end. Requirement: TOK-SYMBOL-1."""
    return [*word[:-1], word[-1] + END]


# -- merging


def merge_all(pieces: list[str], ranks: Mapping[Pair, int]) -> list[str]:
    """Return the pieces after every merge that applies, the one that was learnt first always first.

    Requirements: TOK-MERGE-1, TOK-MERGE-2.
    """
    pair = first_learnt(pieces, ranks)
    while pair is not None:
        pieces = merge(pieces, pair)
        pair = first_learnt(pieces, ranks)
    return pieces


def first_learnt(pieces: Sequence[str], ranks: Mapping[Pair, int]) -> Pair | None:
    """Return the pair of neighbours with the lowest rank, wherever it stands, or None. Requirement: TOK-MERGE-1."""
    learnt = [(ranks[pair], pair) for pair in neighbours(pieces) if pair in ranks]
    return min(learnt)[1] if learnt else None


def neighbours(pieces: Sequence[str]) -> list[Pair]:
    """Return every piece with the one behind it."""
    return list(pairwise(pieces))


def merge(pieces: Sequence[str], pair: Pair) -> list[str]:
    """Return the pieces with each occurrence of a pair joined, from left to right. Requirement: TOK-MERGE-3."""
    merged: list[str] = []
    i = 0
    while i < len(pieces):
        found = tuple(pieces[i : i + 2]) == pair
        merged.append(pieces[i] + pieces[i + 1] if found else pieces[i])
        i += 2 if found else 1
    return merged


# -- ids to text


def decode(ids: Iterable[int], kind: str, vocabulary: Sequence[str]) -> str:
    """Return the text of ids. Raises IndexError for an id that no token has.

    Requirements: TOK-DECODE-1, TOK-DECODE-2, TOK-DECODE-3, TOK-DECODE-4.
    """
    return join_tokens([token_of(i, vocabulary) for i in ids], kind)


def token_of(i: int, vocabulary: Sequence[str]) -> str:
    """Return the token with this id. Raises IndexError where there is none. Requirement: TOK-DECODE-5."""
    if not 0 <= i < len(vocabulary):
        raise IndexError(f"no token has the id {i}: ids are 0 … {len(vocabulary) - 1}")
    return vocabulary[i]


def join_tokens(tokens: Sequence[str], kind: str) -> str:
    """Return tokens as one text: words with a space between them, characters with nothing, pieces as they say."""
    if kind == "word":
        return " ".join(tokens)
    return join_pieces(tokens) if kind == "byte-pair" else "".join(tokens)


def join_pieces(pieces: Sequence[str]) -> str:
    """Return pieces side by side, with a space for each end of a word but that at the end of the text."""
    return "".join(pieces).removesuffix(END).replace(END, " ")


# -- learning


def train(words: Iterable[str], num_merges: int) -> list[Pair]:
    """Return the merges learnt from words, each given as often as it occurs; at most ``num_merges`` of them.

    Requirements: TOK-TRAIN-1 to TOK-TRAIN-10.
    """
    corpus = {tuple(symbols_of(word)): n for word, n in Counter(words).items() if word}
    merges: list[Pair] = []
    while len(merges) < num_merges:
        counts = count_pairs(corpus)
        if not counts:
            break
        pair = most_frequent(counts)
        merges.append(pair)
        corpus = {tuple(merge(pieces, pair)): n for pieces, n in corpus.items()}
    return merges


def count_pairs(corpus: Mapping[tuple[str, ...], int]) -> Counter[Pair]:
    """Return how often each pair of neighbours occurs: in how many places, times how often the word occurs."""
    counts: Counter[Pair] = Counter()
    for pieces, n in corpus.items():
        for pair in neighbours(pieces):
            counts[pair] += n
    return counts


def most_frequent(counts: Mapping[Pair, int]) -> Pair:
    """Return the pair that occurs most often; of several the last in the order of their characters."""
    return max((n, pair) for pair, n in counts.items())[1]
