"""subword-nmt: learn_bpe, and apply_bpe on words, whose symbols are looked up in the vocabulary.

White space splits words: its segment_tokens is given them, as segment takes a text whose words stand one space apart.
"""

import io
from importlib.metadata import version

from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

__version__ = version("subword-nmt")
declares = {"token-kind": "byte-pair", "word-end": "attached"}

JOINT = "\ue000"  # behind each symbol that does not end its word: a separator that no text has
END = "</w>"  # of a symbol that does, in merges and in the vocabulary


def tokenizer(config, weights):
    if config.specials:
        raise NotImplementedError("special tokens: before one of them it is not told where a word ends")
    codes = io.StringIO("#version: 0.2\n" + "".join(f"{left} {right}\n" for left, right in config.merges))
    made = BPE(codes, merges=len(config.merges), separator=JOINT)
    ids = {token: i for i, token in enumerate(config.vocabulary)}

    def forward(text):
        symbols = made.segment_tokens(text.split())
        ours = [s.removesuffix(JOINT) if s.endswith(JOINT) else s + END for s in symbols]
        return [ids[s] if config.unknown is None else ids.get(s, ids[config.unknown]) for s in ours]

    return forward


def bpe_trainer(config, weights):
    def forward(words):
        learned = io.StringIO()
        learn_bpe(io.StringIO(" ".join(words)), learned, config.num_merges, min_frequency=1)
        return [tuple(line.split(" ")) for line in learned.getvalue().splitlines()[1:]]

    return forward
