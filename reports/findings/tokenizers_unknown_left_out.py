"""tokenizers' BPE without an unknown token: what is not in the vocabulary is left out in silence.

Requirement: TOK-UNKNOWN-2
Project: tokenizers 0.23.3
On it: https://github.com/huggingface/tokenizers/issues/517 has a maintainer's answer: it seems to be a bug, and should
    be an exception, or the unknown token; closed as stale.
This is: a bug: so say its maintainers, and WordLevel raises an error.

Prints:

    BPE: ['u', 'g']
    WordLevel: WordLevel error: Missing [UNK] token from the vocabulary
"""

from tokenizers import Tokenizer
from tokenizers.models import BPE, WordLevel

vocabulary = {"h": 0, "u": 1, "g": 2}
print("BPE:", Tokenizer(BPE(vocabulary, [])).encode("mug").tokens)
try:
    print("WordLevel:", Tokenizer(WordLevel(vocabulary)).encode("m").tokens)
except Exception as error:
    print("WordLevel:", error)
