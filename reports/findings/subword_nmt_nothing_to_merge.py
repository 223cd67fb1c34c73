"""subword_nmt's learn_bpe: words without a pair of symbols are an error.

Requirement: TOK-TRAIN-5, TOK-TRAIN-7
Project: subword-nmt 0.3.8
On it: https://github.com/rsennrich/subword-nmt/issues/63 has its author's answer that running out of pairs is no error,
    and the codes can be used as usual.
On it: https://github.com/hxbai/Deep_Enhanced_Repr_for_IDRR/issues/2 is a user's file that came to this error.
This is: a bug: where pairs run out later, it says so, and stops.

Prints:

    ab: 1 merge
    a b: ValueError: max() arg is an empty sequence
"""

import contextlib
import io
import os

from subword_nmt.learn_bpe import learn_bpe

for words in ("ab", "a b"):
    codes = io.StringIO()
    with contextlib.redirect_stderr(open(os.devnull, "w")):  # a bar, and that it stopped
        try:
            learn_bpe(io.StringIO(words), codes, 5, min_frequency=1)
            print(f"{words}: {len(codes.getvalue().splitlines()) - 1} merge")
        except ValueError as error:
            print(f"{words}: ValueError: {error}")
