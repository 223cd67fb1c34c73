"""Ways to get tokenizers wrong: ids."""

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import tokenizer

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
