"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import CONSTANT, NUMBERS, Vacuous

VACUOUS = (
    Vacuous(NUMBERS, "EMB-SAMPLE-1 EMB-INT-1", "no id has an effect"),
    Vacuous(CONSTANT, "EMB-SAME-1", "the same for all tokens", components=("token_embedding",)),
    Vacuous(
        NUMBERS, "EMB-SAME-1", "what it adds to that of a table of zeros is nothing", components=("token_attention",)
    ),
    Vacuous(CONSTANT, "EMB-MASK-1", "the same beside padding and without"),
    Vacuous(("zeros",), "EMB-PAD-3", "zeros for the padding are a choice"),
)
