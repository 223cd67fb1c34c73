"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import EVERYTHING, NUMBERS, Vacuous

VACUOUS = (
    Vacuous(EVERYTHING, "TOK-DECODE-7", "of nothing comes nothing"),
    Vacuous(EVERYTHING, "TOK-TRAIN-6 TOK-TRAIN-10", "the number of merges is right, whatever they are"),
    Vacuous(("zeros", "ones", "echo"), "TOK-SPLIT-1 TOK-SPECIAL-3", "ids that depend on the number of words only"),
    Vacuous(("zeros", "ones"), "TOK-WORD-1", "the same id for every word"),
    Vacuous((*NUMBERS, "nan"), "TOK-TRAIN-9", "the words are not read, and so their order is not"),
)
