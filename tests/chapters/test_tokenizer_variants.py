"""Different is not wrong: tokenizers of one kind, marks of their own, other ties and other lists conform."""

from collections import Counter, defaultdict
from itertools import pairwise

import pytest
import torch
from test_sinusoidal_variants import failed

END = "</w>"


# -- one kind only


def words_only(config, weights):
    if config.kind != "word" or config.specials:
        raise NotImplementedError("anything but words")
    table = defaultdict(lambda: table[config.unknown]) if config.unknown else {}
    table.update((token, i) for i, token in enumerate(config.vocabulary))
    return lambda text: [table[word] for word in text.split()]


def test_words_alone_conform():
    lacking = dict.fromkeys([f"TOK_SPECIAL_{n}" for n in (1, 2, 3, 4)], "unsupported")
    foreign = [*(f"TOK_MERGE_{n}" for n in (1, 2, 3)), "TOK_CHAR_1", "TOK_SYMBOL_1", "TOK_UNKNOWN_3", "TOK_LONG_1"]
    others = {**lacking, **dict.fromkeys(foreign, "not-applicable")}
    assert not failed("tokenizer", words_only, {"token-kind": "word"}, **others)


def characters_only(config, weights):
    if config.kind != "character":
        raise NotImplementedError("anything but characters")
    return lambda ids: "".join(map(dict(enumerate(config.vocabulary)).__getitem__, ids))


def test_characters_alone_are_decoded():
    foreign = dict.fromkeys(["TOK_DECODE_2", "TOK_DECODE_4"], "not-applicable")
    assert not failed("detokenizer", characters_only, {"token-kind": "character"}, **foreign)


# -- a mark of its own, merged as a string with spaces


def merged(word, merges):
    """Return the pieces of a word: merges in order, each over the whole word."""
    for one, other in merges:
        i = 0
        while i + 1 < len(word):
            if word[i] == one and word[i + 1] == other:
                word[i : i + 2] = [one + other]
            i += 1
    return word


def byte_pairs(end):
    def tokenizer(config, weights):
        if config.kind != "byte-pair" or config.specials:
            raise NotImplementedError("anything but byte pairs")
        numbers = dict(zip(config.vocabulary, range(len(config.vocabulary)), strict=True))

        def forward(text):
            tokens = [token for word in text.split() for token in merged(end(word), config.merges)]
            return tuple(numbers[t] if t in numbers else numbers[config.unknown] for t in tokens)

        return forward

    return tokenizer


def separate(word):
    return [*word, END]


def attached(word):
    return [*word[:-1], word[-1] + END]


ONE_KIND = {
    **dict.fromkeys(["TOK_LOOKUP_1", "TOK_CHAR_1", "TOK_UNKNOWN_1"], "not-applicable"),
    **dict.fromkeys([f"TOK_SPECIAL_{n}" for n in (1, 2, 3, 4)], "unsupported"),
}


@pytest.mark.parametrize(("end", "said"), [(attached, "attached"), (separate, "separate")])
def test_byte_pairs_with_either_mark_conform(end, said):
    assert not failed("tokenizer", byte_pairs(end), {"token-kind": "byte-pair", "word-end": said}, **ONE_KIND)


def test_an_undeclared_mark_does_not_conform():
    found = failed("tokenizer", byte_pairs(separate), {"token-kind": "byte-pair", "word-end": "attached"}, **ONE_KIND)
    assert "TOK-SYMBOL-1" in found


# -- learning, with either mark and other ties


def trainer(end, better):
    def bpe_trainer(config, weights):
        def forward(words):
            corpus = [end(word) for word in words]
            merges = []
            while len(merges) < config.num_merges:
                counts = Counter()
                for word in corpus:
                    counts.update(pairwise(word))
                if not counts:
                    break
                merges.append(list(better(counts)))
                for word in corpus:
                    merged(word, merges[-1:])
            return merges

        return forward

    return bpe_trainer


TIES = {
    "first met": lambda counts: max(counts, key=counts.get),
    "last met": lambda counts: max(reversed(counts), key=counts.get),
    "smallest": lambda counts: min(counts, key=lambda pair: (-counts[pair], pair)),
    "shortest": lambda counts: min(counts, key=lambda pair: (-counts[pair], len("".join(pair)), pair)),
}


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(("end", "said"), [(attached, "attached"), (separate, "separate")])
def test_any_pair_of_the_most_frequent_conforms(ties, end, said):
    """Where the order of words decides on ties, that alone is reported."""
    found = failed("bpe_trainer", trainer(end, TIES[ties]), {"word-end": said})
    assert set(found) == ({"TOK-TRAIN-9"} if "met" in ties else set())


@pytest.mark.parametrize(("end", "said"), [(attached, "separate"), (separate, "attached")])
def test_learning_with_an_undeclared_mark_does_not_conform(end, said):
    assert "TOK-TRAIN-4" in failed("bpe_trainer", trainer(end, TIES["smallest"]), {"word-end": said})


# -- other lists


@pytest.mark.parametrize("made", [tuple, torch.tensor, lambda ids: torch.tensor(ids, dtype=torch.int32)])
def test_ids_may_be_a_tuple_or_a_tensor(made):
    def tokenizer(config, weights):
        plain = words_only(config, weights)
        return lambda text: made(plain(text) or torch.zeros(0, dtype=torch.long))

    found = failed("tokenizer", tokenizer, {"token-kind": "word"})
    assert not [name for name, got in found.items() if got.startswith("fail")]
