"""Ways to get tokenizers wrong: earlier calls."""

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import tokenizer


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
