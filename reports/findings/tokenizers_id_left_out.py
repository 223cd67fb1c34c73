"""tokenizers: decoding leaves out an id that no token has.

Requirement: TOK-DECODE-6
Project: tokenizers 0.23.3
On it: https://github.com/huggingface/transformers/issues/20781 asks which is meant, as the slow tokenizers raise; a
    maintainer would rather have an exception; closed.
This is: an ambiguity: fast and slow tokenizers differ, and neither way is documented.

Prints:

    'hello world'
"""

from tokenizers import Tokenizer
from tokenizers.models import WordLevel

tokenizer = Tokenizer(WordLevel({"hello": 0, "world": 1}))
print(repr(tokenizer.decode([0, 7, 1])))
