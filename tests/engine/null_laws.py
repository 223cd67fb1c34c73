"""The laws of every call that implementations which compute nothing satisfy by definition, each with the reason.

What they satisfy of a chapter's own requirements stands beside its mutants.
"""

from attnconf.conformance.engine.vacuous import EVERYTHING, NUMBERS, ZERO_APART, Vacuous

LAWS = [
    Vacuous(
        EVERYTHING,
        "ATT-SHAPE-1 ATT-DTYPE-1 ATT-EMPTY-1 ATT-IMMUT-1 MASK-IMMUT-1 SIN-SHAPE-1 SIN-DTYPE-1 LRN-SHAPE-1 "
        "LRN-DTYPE-1 ROPE-SHAPE-1 ROPE-DTYPE-1 ALIBI-SHAPE-1 ALIBI-DTYPE-1 REL-SHAPE-1 REL-DTYPE-1 FOUR-DTYPE-1 "
        "SIN-IMMUT-1 LRN-IMMUT-1 ROPE-IMMUT-1 LN-SHAPE-1 LN-DTYPE-1 RMS-SHAPE-1 RMS-DTYPE-1 LN-IMMUT-1 "
        "RMS-IMMUT-1 ENC-SHAPE-1 ENC-DTYPE-1 ENC-IMMUT-1 TOK-IMMUT-1 DEC-SHAPE-1 DEC-DTYPE-1 DEC-IMMUT-1 "
        "FF-SHAPE-1 FF-DTYPE-1 FF-IMMUT-1 EMB-SHAPE-1 EMB-EMPTY-1 EMB-DTYPE-1 EMB-IMMUT-1 TRF-SHAPE-1 "
        "TRF-DTYPE-1 TRF-IMMUT-1",
        "shape and dtype are right, and nothing is written, whatever the numbers",
    ),
    Vacuous(
        NUMBERS,
        "ATT-STRIDE-1 ATT-REPEAT-1 ATT-MODE-1 MASK-STRIDE-1 MHA-IMMUT-1 MHA-MODE-1 FOUR-IMMUT-1 CMLP-IMMUT-1 "
        "SIN-REPEAT-1 LRN-REPEAT-1 ROPE-STRIDE-1 ROPE-REPEAT-1 REL-REPEAT-1 LN-REPEAT-1 LN-MODE-1 LN-STRIDE-1 "
        "RMS-REPEAT-1 RMS-MODE-1 RMS-STRIDE-1 ENC-REPEAT-1 ENC-EMPTY-1 ENC-MODE-1 ENC-MODE-2 DEC-REPEAT-1 "
        "DEC-MODE-1 DEC-EMPTY-1 FF-REPEAT-1 FF-STRIDE-1 EMB-REPEAT-1 TRF-REPEAT-1 TRF-MODE-1",
        "the same values give the same output, whatever the layout, the mode or earlier calls",
    ),
    Vacuous(NUMBERS, "ALIBI-REPEAT-1", "the same sizes give the same bias", ("alibi",)),
    Vacuous(ZERO_APART, "ALIBI-REPEAT-1", "the same weights in every call", ("alibi_attention",)),
    Vacuous(EVERYTHING, "TOK-EMPTY-1", "of nothing comes nothing"),
    Vacuous(("zeros", "ones", "echo"), "TOK-REPEAT-1", "ids that depend on the number of words only"),
    Vacuous(
        (*NUMBERS, "nan"),
        "TOK-REPEAT-1",
        "the same text or merges in every call",
        ("detokenizer", "bpe_trainer"),
    ),
]
