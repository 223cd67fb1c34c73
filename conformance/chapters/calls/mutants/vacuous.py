"""The laws of every call that implementations which compute nothing satisfy by definition, each with the reason.

What they satisfy of a chapter's own requirements stands beside its mutants.
"""

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.engine.vacuous import EVERYTHING, NUMBERS, Vacuous

OF_TENSORS = tuple(name for name, component in COMPONENTS.items() if component.returns == "tensor")

VACUOUS = (
    Vacuous(
        EVERYTHING,
        "CALL-SHAPE-1 CALL-DTYPE-1 CALL-DTYPE-2 CALL-EMPTY-1 CALL-IMMUT-1 MASK-IMMUT-1",
        "shape and dtype are right, and nothing is written, whatever the numbers",
    ),
    Vacuous(
        NUMBERS,
        "CALL-FLOAT-1 CALL-LAYOUT-1 CALL-MODE-1 MASK-STRIDE-1 MHA-MODE-1 ENC-EMPTY-1 ENC-MODE-2 DEC-EMPTY-1",
        "the same values give the same output, whatever the layout or the mode",
    ),
    Vacuous(("random",), "CALL-LAYOUT-1 CALL-MODE-1", "drawn with the same seed in every call", ("random_fourier",)),
    Vacuous(NUMBERS, "CALL-REPEAT-1", "the same sizes and values give the same output", OF_TENSORS),
    Vacuous(("zeros", "ones", "echo"), "CALL-REPEAT-1", "the same ids for as many words", ("tokenizer",)),
    Vacuous((*NUMBERS, "nan"), "CALL-REPEAT-1", "the same in every call", ("detokenizer", "bpe_trainer")),
    Vacuous(EVERYTHING, "TOK-EMPTY-1", "of nothing comes nothing"),
)
