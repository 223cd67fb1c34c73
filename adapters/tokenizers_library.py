"""tokenizers: Hugging Face's library, its models WordLevel and BPE, and its trainer of BPE.

White space splits words (WhitespaceSplit); the mark of a word's end is its end_of_word_suffix.
"""

import json

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

__version__ = tokenizers.__version__
declares = {"token-kind": "any", "word-end": "attached"}

END = "</w>"
MODELS = {
    "word": lambda ids, config: models.WordLevel(ids, config.unknown),
    "character": lambda ids, config: models.WordLevel(ids, config.unknown),
    "byte-pair": lambda ids, config: models.BPE(
        ids, list(config.merges), unk_token=config.unknown, end_of_word_suffix=END
    ),
}
SPLITS = {
    "word": pre_tokenizers.WhitespaceSplit,
    "character": lambda: pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated"),
    "byte-pair": pre_tokenizers.WhitespaceSplit,
}
JOINS = {"character": decoders.Fuse, "byte-pair": lambda: decoders.BPEDecoder(suffix=END)}


def build(config):
    ids = {token: i for i, token in enumerate(config.vocabulary)}
    made = Tokenizer(MODELS[config.kind](ids, config))
    made.pre_tokenizer = SPLITS[config.kind]()
    if config.kind in JOINS:
        made.decoder = JOINS[config.kind]()
    made.add_special_tokens([AddedToken(special, normalized=False) for special in config.specials])
    return made


def tokenizer(config, weights):
    made = build(config)
    return lambda text: made.encode(text, add_special_tokens=False).ids


def detokenizer(config, weights):
    made = build(config)
    return lambda ids: made.decode(ids, skip_special_tokens=False)


def bpe_trainer(config, weights):
    """Ask for all merges there are, and keep the first: the library counts symbols and merges together."""

    def forward(words):
        made = Tokenizer(models.BPE(end_of_word_suffix=END))
        made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        trainer = trainers.BpeTrainer(vocab_size=10**6, end_of_word_suffix=END, show_progress=False)
        made.train_from_iterator([" ".join(words)], trainer)
        merges = json.loads(made.to_str())["model"]["merges"]
        return [tuple(pair) for pair in merges[: config.num_merges]]

    return forward
