"""The reference's tokenizers against what shares no code with them: strings and regular expressions, closed forms,
published examples, and the library tokenizers."""

import re
from collections import Counter, defaultdict
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from attnconf.reference.tokenizer import END, decode, encode, merge_all, rank, symbols_of, train

always_the_same = settings(max_examples=150, derandomize=True, database=None, deadline=None)
few_letters = st.text("ab", min_size=1, max_size=9)
corpora = st.lists(st.one_of(few_letters, st.text("lowerst", min_size=1, max_size=7)), max_size=25)
any_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x1c\x1d\x1e\x1f"), max_size=40)

# -- the same in another style: a word is a string with its symbols between spaces


def spaced(word):
    return " ".join(word) + END


def glued(word, pair):
    return re.sub(rf"(?<!\S){re.escape(' '.join(pair))}(?!\S)", lambda found: found[0].replace(" ", ""), word)


def learnt(words, num_merges):
    """Return the merges, as strings are counted and replaced; of equally frequent pairs the last in their order."""
    dictionary = Counter(spaced(word) for word in words)
    merges = []
    for _ in range(num_merges):
        counts = defaultdict(int)
        for word, n in dictionary.items():
            for pair in pairwise(word.split(" ")):
                counts[pair] += n
        if not counts:
            break
        merges.append(sorted(counts.items(), key=lambda item: (item[1], item[0]))[-1][0])
        dictionary = {glued(word, merges[-1]): n for word, n in dictionary.items()}
    return merges


def pieces(word, merges):
    """Return the pieces of a word: every merge once, in the order in which they were learnt."""
    word = spaced(word)
    for pair in merges:
        word = glued(word, pair)
    return word.split(" ")


@always_the_same
@given(corpora, st.integers(0, 25))
def test_merges_are_those_of_strings(words, num_merges):
    assert train(words, num_merges) == learnt(words, num_merges)


@always_the_same
@given(corpora, few_letters)
def test_pieces_are_those_of_strings(words, word):
    """Making the lowest merge again and again is making all of them once, in order, where merges were learnt."""
    merges = learnt(words, 20)
    assert merge_all(symbols_of(word), rank(merges)) == pieces(word, merges)


# -- laws


@always_the_same
@given(corpora)
def test_with_all_merges_every_word_of_the_corpus_is_one_piece(words):
    ranks = rank(train(words, 1000))
    assert all(merge_all(symbols_of(word), ranks) == [word + END] for word in words)


@always_the_same
@given(corpora, st.integers(0, 25))
def test_fewer_merges_are_the_first_of_more(words, num_merges):
    assert train(words, num_merges) == train(words, 25)[:num_merges]


def vocabulary_of(texts, merges=(), extra=()):
    letters = sorted({c for text in texts for c in text if not c.isspace()})
    symbols = [*letters, *(c + END for c in letters), *(a + b for a, b in merges)]
    return list(dict.fromkeys([*extra, *symbols]))


@always_the_same
@given(any_text)
def test_what_the_vocabulary_covers_comes_back(text):
    merges = train(text.split(), 10)
    words = list(dict.fromkeys(text.split()))
    normal = " ".join(text.split())
    for kind, vocabulary, want in (
        ("byte-pair", vocabulary_of([text], merges), normal),
        ("word", words, normal),
        ("character", sorted(set(text)), text),
    ):
        if END not in text:  # text with the mark in it is left open
            assert decode(encode(text, kind, vocabulary, merges), kind, vocabulary) == want


# -- published examples


def test_the_example_of_the_paper():
    """Sennrich, Haddow and Birch 2016, figure 1: learnt from low, lowest, newer and wider."""
    assert merge_all(symbols_of("lower"), rank([("l", "o"), ("lo", "w"), ("e", "r" + END)])) == ["low", "er" + END]


def test_the_merges_of_the_paper_are_most_frequent():
    """The figure's merges, with a letter before each mark to stand for a mark of its own."""
    words = [word + "·" for word in ("low", "lowest", "newer", "wider")]
    published = [("r", "·" + END), ("l", "o"), ("lo", "w"), ("e", "r·" + END)]
    for n, pair in enumerate(published):
        counts = Counter(p for word in words for p in pairwise(pieces(word, published[:n])))
        assert counts[pair] == max(counts.values())


def test_the_example_of_gage():
    """aaabdaaabac is XdXac, with Z = aa, Y = ab and X = ZY: Gage 1994, as Wikipedia tells it."""
    merges = [("a", "a"), ("a", "b"), ("aa", "ab")]
    assert merge_all(symbols_of("aaabdaaabac"), rank(merges)) == ["aaab", "d", "aaab", "a", "c" + END]


# -- the library tokenizers


def library(vocabulary, merges):
    ids = {token: i for i, token in enumerate(vocabulary)}
    made = Tokenizer(models.BPE(ids, merges, unk_token="<unk>", end_of_word_suffix=END))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.decoder = decoders.BPEDecoder(suffix=END)
    return made


@always_the_same
@given(corpora, any_text)
def test_ids_and_texts_are_those_of_the_library(words, text):
    merges = train(words, 20)
    vocabulary = vocabulary_of([*words, "xyz"], merges, ["<unk>"])
    made = library(vocabulary, merges)
    for each in (text, " ".join(words), "  ".join([*words[::2], text, *words])):
        ids = encode(each, "byte-pair", vocabulary, merges, "<unk>")
        assert ids == made.encode(each, add_special_tokens=False).ids
        assert decode(ids, "byte-pair", vocabulary) == made.decode(ids, skip_special_tokens=False)


def test_some_pieces_are_merged_against_the_library():
    words = ["lower", "lowest", "newest", "widest", "slower"] * 3
    merges = train(words, 9)
    vocabulary = vocabulary_of(words, merges, ["<unk>"])
    ids = encode("slowest newer tower", "byte-pair", vocabulary, merges, "<unk>")
    assert ids == library(vocabulary, merges).encode("slowest newer tower").ids
    assert 5 < len(ids) < len("slowestnewertower")


# -- special tokens


@pytest.mark.parametrize("kind", ["word", "character", "byte-pair"])
def test_special_tokens_cut_a_text(kind):
    specials = ["<e>", "<e><e>", "[x]"]
    vocabulary = ["<unk>", *specials, *"low e", *(c + END for c in "low"), "low"]
    parts = ["low", "<e><e>", "<e>", " low", "[x]", "[x ]lo"]
    want = []
    for part in parts:
        plain = encode(part, kind, vocabulary, [], "<unk>")
        want += [vocabulary.index(part)] if part in specials else plain
    assert encode("".join(parts), kind, vocabulary, [], "<unk>", specials) == want


# -- what is refused


@pytest.mark.parametrize("kind", ["word", "character", "byte-pair"])
def test_what_is_unknown_is_refused_without_an_unknown_token(kind):
    with pytest.raises(ValueError, match="is not in the vocabulary, and there is no unknown token"):
        encode("x", kind, ["a"])


@pytest.mark.parametrize("i", [-1, 2, 50])
def test_an_id_without_a_token_is_refused(i):
    with pytest.raises(IndexError, match=rf"no token has the id {i}: ids are 0 … 1"):
        decode([0, i], "word", ["a", "b"])
